import { expect, test } from 'vitest';
import { Problem, rethrowWith, unlessRefused } from './client';

const refused = new Problem(400, { error: { code: 'invalid_request', field: 'email', message: 'email is no address.' } });

test.each([
	['the text of the page for a field that it names', refused, { email: 'Check the address.' }, 'email', 'Check the address.'],
	['the message of the API for another field', refused, { invite: 'Check the code.' }, 'email', 'email is no address.'],
	['the message of the API without a field', new Problem(503, { error: { message: 'Busy' } }), { email: '' }, undefined, 'Busy'],
] as const)('an error is thrown again with %s', async (_, error, texts, field, message) => {
	await expect(Promise.reject(error).catch(rethrowWith(texts))).rejects.toMatchObject({ field, message });
});

test('another exception is thrown again as a network error', async () => {
	await expect(Promise.reject(new TypeError('lost')).catch(rethrowWith({ email: '' }))).rejects.toMatchObject({ code: 'offline' });
});

test('a call returns its data, or reports that the API refused the field', async () => {
	await expect(unlessRefused(Promise.resolve(7), 'email')).resolves.toBe(7);
	await expect(unlessRefused(Promise.reject(refused), 'email')).resolves.toBe('refused');
	await expect(unlessRefused(Promise.reject(refused), 'token')).rejects.toBe(refused);
});
