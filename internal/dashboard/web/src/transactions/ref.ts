import { today } from '../dates';

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/**
 * newRef makes a reference that nobody else makes: where it comes from, the day in
 * India, and 50 random bits. random has at least ten bytes.
 */
export function newRef(kind: 'recharge' | 'verify' | 'topup' | 'batch', now: Date, random: Uint8Array): string {
	const day = today(now).replaceAll('-', '');
	let tail = '';
	for (const byte of random.subarray(0, 10)) {
		tail += alphabet.charAt(byte & 31);
	}
	return `${kind}-${day}-${tail}`;
}

/** freshRef is newRef of this moment and this browser's random numbers. */
export function freshRef(kind: Parameters<typeof newRef>[0]): string {
	return newRef(kind, new Date(), crypto.getRandomValues(new Uint8Array(10)));
}
