import type { Schemas } from './contract.js';
import { SignatureError } from './error.js';

const encoder = new TextEncoder();

/** The event of a webhook. Later versions can add types and fields. */
export type WebhookEvent = Schemas['Event'];

export interface VerifyOptions {
	/** Unix seconds; the default is the clock. */
	now?: number;
	/** Largest age of a signature in seconds; the default is 300. */
	tolerance?: number;
}

/**
 * Verifies a webhook and returns its event. `body` is the unparsed body, and `header` is `X-SERVICE-Signature`. Several
 * secrets are for a rotation: any of them may have signed. Throws a SignatureError.
 */
export async function verifyWebhook(
	body: string | Uint8Array<ArrayBuffer>,
	header: string | null | undefined,
	secrets: string | readonly string[],
	options: VerifyOptions = {},
): Promise<WebhookEvent> {
	const items = (header ?? '').split(',').map((item) => item.split('='));
	const stamp = items.find(([name]) => name === 't')?.[1] ?? '';
	const now = options.now ?? Date.now() / 1000;
	if (!/^\d{1,12}$/.test(stamp)) throw new SignatureError('The header X-SERVICE-Signature has no time.');
	if (Math.abs(now - Number(stamp)) > (options.tolerance ?? 300)) throw new SignatureError('The signature is too old or from the future.');
	const bytes = typeof body === 'string' ? encoder.encode(body) : body;
	const message = join(encoder.encode(`${stamp}.`), bytes);
	const signatures = items.flatMap(([name, value]) => (name === 'v1' && /^[0-9a-f]{64}$/.test(value ?? '') ? [fromHex(value ?? '')] : []));
	for (const secret of [secrets].flat()) {
		if (secret === '') throw new SignatureError('The secret is empty.');
		const key = await hmacKey(secret, 'verify');
		for (const signature of signatures) {
			// crypto.subtle.verify compares in constant time.
			if (await crypto.subtle.verify('HMAC', key, signature, message)) return JSON.parse(new TextDecoder().decode(bytes));
		}
	}
	throw new SignatureError('No signature matches the body and a secret.');
}

/** Signs requests of a key that requires signatures. A signature is accepted once, so equal requests get different times. */
export class RequestSigner {
	readonly #secret: string;
	readonly #used = new Map<string, number>();

	constructor(secret: string) {
		this.#secret = secret;
	}

	async sign(method: string, url: URL, headers: Headers, body: string, now: number): Promise<string> {
		for (const [signature, t] of this.#used) if (t < now - 600) this.#used.delete(signature);
		const key = await hmacKey(this.#secret, 'sign');
		const lines = [method, url.pathname + url.search, headers.get('Idempotency-Key') ?? '', headers.get('X-SERVICE-Version') ?? ''];
		for (let t = Math.floor(now); ; t--) {
			const text = ['v2', t, ...lines].map((line) => `${line}\n`).join('') + body;
			const signature = toHex(await crypto.subtle.sign('HMAC', key, encoder.encode(text)));
			if (this.#used.has(signature)) continue;
			this.#used.set(signature, t);
			return `t=${t},v2=${signature}`;
		}
	}
}

function hmacKey(secret: string, usage: 'sign' | 'verify'): Promise<CryptoKey> {
	return crypto.subtle.importKey('raw', encoder.encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, [usage]);
}

function join(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
	const out = new Uint8Array(a.length + b.length);
	out.set(a);
	out.set(b, a.length);
	return out;
}

function toHex(buffer: ArrayBuffer): string {
	return Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function fromHex(text: string): Uint8Array<ArrayBuffer> {
	return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
