/**
 * Check is the result of a check of a signature. "lines" and "compact" mean that another form of the body has the
 * signature: with other line breaks, or as compact JSON.
 */
export type Check =
	| { result: 'malformed' }
	| { result: 'different' }
	| { result: 'valid' | 'lines' | 'compact' /** age is the age of the signature in seconds. */; age: number };

/** maxAge is how much older or newer than now a signature may be, in seconds. */
export const maxAge = 300;

/** checkSignature checks the header of a delivery with a secret and the text of its body. Nothing leaves the browser. */
export async function checkSignature(secret: string, header: string, body: string, now: Date): Promise<Check> {
	const items = header
		.replace(/[\r\n]+/g, '')
		.replace(/^\s*X-SERVICE-Signature\s*:/i, '')
		.split(',')
		.map((item) => item.trim().split('='));
	const stamp = items.find(([name]) => name === 't')?.[1] ?? '';
	const signatures = items.filter(([name, value]) => name === 'v1' && /^[0-9a-f]{64}$/.test(value ?? '')).map(([, value]) => value);
	if (!/^\d{1,12}$/.test(stamp) || signatures.length === 0 || secret === '') {
		return { result: 'malformed' };
	}
	const age = Math.round(now.getTime() / 1000) - Number(stamp);
	for (const [result, text] of formsOf(body)) {
		if (signatures.includes(await hmac(secret, `${stamp}.${text}`))) {
			return { result, age };
		}
	}
	return { result: 'different' };
}

function formsOf(body: string): ['valid' | 'lines' | 'compact', string][] {
	const forms: ['valid' | 'lines' | 'compact', string][] = [['valid', body]];
	const bare = body.trim();
	forms.push(['lines', bare], ['lines', `${bare}\n`], ['lines', bare.replace(/\r\n/g, '\n')]);
	try {
		forms.push(['compact', JSON.stringify(JSON.parse(body))]);
	} catch {
		// A body that is no JSON has no compact form.
	}
	return forms;
}

async function hmac(secret: string, text: string): Promise<string> {
	const bytes = new TextEncoder();
	const key = await crypto.subtle.importKey('raw', bytes.encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
	const sum = new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes.encode(text)));
	return [...sum].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
