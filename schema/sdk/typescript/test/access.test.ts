import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { failure, fixture, json, problem, record } from './fixture.js';

const delhi = { query: { city: 'Delhi' } } as const;

test('a rejected key is replaced once', async () => {
	const keys = ['old', 'new'];
	const rejected: (string | undefined)[] = [];
	const { client, received, waits } = await fixture(
		(request, reply) => (request.headers.authorization === 'Bearer new' ? json(reply, 200, record) : problem(reply, 401, 'key_revoked')),
		{
			key: async (previous) => {
				rejected.push(previous);
				return previous === undefined ? (keys[0] ?? '') : (keys[1] ?? '');
			},
		},
	);
	expect(await client.get('/v1/aqi', delhi)).toEqual(record);
	expect(received.map((request) => request.headers.authorization)).toEqual(['Bearer old', 'Bearer new']);
	expect(rejected).toEqual([undefined, 'old']);
	expect(waits).toEqual([]);
});

test('a key that stays invalid ends the call', async () => {
	const { client, received } = await fixture((_, reply) => problem(reply, 401, 'key_expired'), { key: () => 'old' });
	expect(await failure(client.get('/v1/aqi', delhi))).toMatchObject({ status: 401, code: 'key_expired' });
	expect(received).toHaveLength(2);
});

test('requests are signed, each with its own signature', async () => {
	const { client, received } = await fixture((_, reply) => json(reply, 200, record), {
		signingSecret: 'secret',
		now: () => 1795229706_500,
	});
	await client.get('/v1/aqi', delhi);
	await client.get('/v1/aqi', delhi);
	await client.post('/v1/wallet/topups', { body: { amount: 5 }, idempotencyKey: 'k', headers: { 'X-SERVICE-Version': '2026-11-01' } });
	const times = received.map((request) => {
		const header = String(request.headers['x-service-request-signature']);
		const [, t, v2] = /^t=(\d+),v2=([0-9a-f]{64})$/.exec(header) ?? [];
		const lines = [
			'v2',
			t,
			request.method,
			request.url,
			request.headers['idempotency-key'] ?? '',
			request.headers['x-service-version'] ?? '',
		];
		const text = lines.map((line) => `${line}\n`).join('') + request.body;
		expect(v2).toBe(createHmac('sha256', 'secret').update(text).digest('hex'));
		return Number(t);
	});
	expect(times).toEqual([1795229706, 1795229705, 1795229706]);
});

test('paths and queries are encoded', async () => {
	const { client, received } = await fixture((_, reply) => json(reply, 200, {}));
	await client.get('/v1/stations/{id}', { path: { id: 'a/b ü' } });
	await client.get('/v1/aqi', { query: { city: 'Navi Mumbai & more' } });
	expect(received.map((request) => request.url)).toEqual(['/v1/stations/a%2Fb%20%C3%BC', '/v1/aqi?city=Navi+Mumbai+%26+more']);
	const missing = await failure(client.get('/v1/stations/{id}', { path: { id: '' } }));
	expect(missing).toMatchObject({ message: '/v1/stations/{id}: path.id is missing' });
});

test('a reply can be read as it is', async () => {
	const { client } = await fixture((_, reply) => reply.writeHead(304, { ETag: '"1"' }).end());
	const response = await client.response('/v1/cities', { headers: { 'If-None-Match': '"1"' } });
	expect(response.status).toBe(304);
});

test('wrong parameters do not compile', async () => {
	const { client } = await fixture((_, reply) => json(reply, 200, {}));
	// @ts-expect-error: the contract has no parameter town
	await client.get('/v1/aqi', { query: { town: 'Delhi' } });
	// @ts-expect-error: the amount is a number
	await client.post('/v1/wallet/topups', { body: { amount: '5' } });
	// @ts-expect-error: the path needs an id
	await failure(client.get('/v1/stations/{id}'));
	// @ts-expect-error: the account is not a list
	const pages = client.pages('/v1/account');
	await pages.next();
});
