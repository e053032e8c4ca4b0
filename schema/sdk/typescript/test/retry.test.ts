import { describe, expect, test } from 'vitest';
import { ConnectionError, ProblemError, TimeoutError, VayuError } from '../src/index.js';
import { failure, fixture, json, problem, record } from './fixture.js';

const delhi = { query: { city: 'Delhi' } } as const;
const order = { mobile: '9000000001', operator: 'auto', amount: 19.35, type: 'prepaid', ref_id: 'one' } as const;

describe('retries', () => {
	test('wait for Retry-After', async () => {
		const { client, waits } = await fixture((_, reply, count) =>
			count === 0 ? problem(reply, 429, 'rate_limited', {}, { 'Retry-After': 7 }) : json(reply, 200, record),
		);
		expect(await client.get('/v1/aqi', delhi)).toEqual(record);
		expect(waits).toEqual([7000]);
	});

	test('back off exponentially after 502, 503 and 504', async () => {
		const { client, waits, received } = await fixture((_, reply, count) =>
			count < 3 ? problem(reply, 502 + count, 'service_unavailable') : json(reply, 200, record),
		);
		await client.get('/v1/aqi', delhi);
		expect(received).toHaveLength(4);
		for (const [i, wait] of waits.entries()) {
			expect(wait).toBeGreaterThanOrEqual(250 * 2 ** i);
			expect(wait).toBeLessThanOrEqual(500 * 2 ** i);
		}
	});

	test('end after the last attempt', async () => {
		const { client, received } = await fixture((_, reply) => problem(reply, 503, 'service_unavailable'), { retries: 2 });
		expect(await failure(client.get('/v1/aqi', delhi))).toMatchObject({ status: 503, code: 'service_unavailable' });
		expect(received).toHaveLength(3);
	});

	test('do not wait for the next month', async () => {
		const { client, waits } = await fixture((_, reply) => problem(reply, 429, 'quota_exceeded', {}, { 'Retry-After': 86400 }));
		expect(await failure(client.get('/v1/aqi', delhi))).toMatchObject({ code: 'quota_exceeded', retryAfter: 86400 });
		expect(waits).toEqual([]);
	});

	test('repeat a POST with the same Idempotency-Key', async () => {
		const { client, received } = await fixture((_, reply, count) =>
			count % 2 === 0 ? problem(reply, 503, 'service_unavailable') : json(reply, 200, { status: 'success' }),
		);
		await client.post('/v1/wallet/topups', { body: { amount: 500.29 } });
		await client.post('/v1/wallet/topups', { body: { amount: 500.29 }, idempotencyKey: 'mine' });
		const keys = received.map((request) => request.headers['idempotency-key']);
		expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
		expect(keys).toEqual([keys[0], keys[0], 'mine', 'mine']);
		expect(received[1]?.body).toBe('{"amount":500.29}');
	});

	test('repeat a recharge by its ref_id', async () => {
		const { client, received } = await fixture((_, reply, count) =>
			count === 0 ? reply.destroy() : json(reply, 200, { status: 'success', ref_id: 'one' }),
		);
		await client.post('/v1/recharge', { body: order });
		expect(received).toHaveLength(2);
		expect(received[0]?.headers['idempotency-key']).toBeUndefined();
	});

	test('do not repeat a recharge that has failed', async () => {
		const body = {
			status: 'failed',
			transaction_id: 'txn_1',
			error: { code: 'operator_network_error', message: 'It failed.', retryable: true },
		};
		const { client, received } = await fixture((_, reply) => json(reply, 502, body));
		expect(await failure(client.post('/v1/recharge', { body: order }))).toMatchObject({
			code: 'operator_network_error',
			retryable: false,
			body,
		});
		expect(received).toHaveLength(1);
	});

	test('do not repeat a POST that is not idempotent', async () => {
		const { client, received } = await fixture((_, reply) => reply.destroy());
		expect(await failure(client.post('/v1/sessions'))).toBeInstanceOf(ConnectionError);
		expect(received).toHaveLength(1);
	});

	test('repeat a reply that was cut', async () => {
		const { client, received } = await fixture((_, reply, count) => {
			if (count > 0) return json(reply, 200, record);
			reply.writeHead(200, { 'Content-Length': 1000 });
			reply.write('{"status":', () => reply.destroy());
		});
		expect(await client.get('/v1/aqi', delhi)).toEqual(record);
		expect(received).toHaveLength(2);
	});

	test('repeat a call without a reply, and report the timeout', async () => {
		const { client, waits } = await fixture(() => {}, { timeout: 20, retries: 1 });
		const error = await failure(client.get('/v1/aqi', delhi));
		expect(error).toBeInstanceOf(TimeoutError);
		expect(error).toMatchObject({ message: 'GET /v1/aqi: no reply within 20 ms' });
		expect(waits).toHaveLength(1);
	});

	test('end when the caller aborts', async () => {
		const stop = new AbortController();
		const { client, received } = await fixture((_, reply) => {
			stop.abort(new Error('stopped'));
			problem(reply, 503, 'service_unavailable');
		});
		expect(await failure(client.get('/v1/aqi', { ...delhi, signal: stop.signal }))).toMatchObject({ message: 'stopped' });
		expect(received).toHaveLength(1);
	});

	test('do not repeat invalid requests', async () => {
		const { client, received } = await fixture((_, reply) => problem(reply, 400, 'invalid_request', { field: 'city' }));
		const error = await failure(client.get('/v1/aqi', delhi));
		expect(error).toBeInstanceOf(ProblemError);
		expect(error).toBeInstanceOf(VayuError);
		expect(error).toMatchObject({ code: 'invalid_request', field: 'city', requestId: 'req_1', message: 'It failed.' });
		expect(received).toHaveLength(1);
	});
});

test('a proxy that replies in HTML is no problem of the contract', async () => {
	const { client, received } = await fixture(
		(_, reply) => reply.writeHead(502, { 'X-Request-Id': 'proxy' }).end('<html>Bad gateway</html>'),
		{ retries: 1 },
	);
	const want = { status: 502, code: 'unexpected_reply', requestId: 'proxy', body: '<html>Bad gateway</html>' };
	expect(await failure(client.get('/v1/aqi', delhi))).toMatchObject(want);
	expect(received).toHaveLength(2);
});

test('calls wait while the rate limit is used up', async () => {
	const { client, waits } = await fixture(
		(_, reply, count) =>
			json(reply, 200, record, { RateLimit: `"default";r=${count === 0 ? 0 : 5};t=1`, 'RateLimit-Policy': '"default";q=20;w=1' }),
		{ now: () => 1_000_000 },
	);
	await client.get('/v1/aqi', delhi);
	await Promise.all([client.get('/v1/aqi', delhi), client.get('/v1/aqi', delhi)]);
	await client.get('/v1/aqi', delhi);
	expect(waits).toEqual([50, 100]);
});

test('a limit of one name does not delay calls of another', async () => {
	const { client, waits } = await fixture((request, reply) => {
		const [name, left] = request.url.startsWith('/v1/aqi') ? ['default', 9] : ['payment', 0];
		json(reply, 200, record, { RateLimit: `"${name}";r=${left};t=1`, 'RateLimit-Policy': `"${name}";q=40;w=2` });
	});
	await client.post('/v1/recharge', { body: order });
	await client.get('/v1/aqi', delhi);
	await client.get('/v1/aqi', delhi);
	expect(waits).toEqual([]);
});
