import { today } from '../dates';

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/**
 * newRef returns a unique reference: its origin, the date in India, and 50 random bits. random has at least ten
 * bytes.
 */
export function newRef(kind: 'recharge' | 'verify' | 'topup' | 'batch', now: Date, random: Uint8Array): string {
	const day = today(now).replaceAll('-', '');
	let tail = '';
	for (const byte of random.subarray(0, 10)) {
		tail += alphabet.charAt(byte & 31);
	}
	return `${kind}-${day}-${tail}`;
}

/** freshRef returns newRef for the current time with random numbers of the browser. */
export function freshRef(kind: Parameters<typeof newRef>[0]): string {
	return newRef(kind, new Date(), crypto.getRandomValues(new Uint8Array(10)));
}
