import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { SignatureError, verifyWebhook } from '../src/index.js';
import { failure } from './fixture.js';

const now = 1795000000;
const body = '{"id":"evt_1","type":"quota.warning","created":1795000000,"api_version":"2026-11-01","data":{"ü":1}}';
const sign = (secret: string, t = now, text = body) => createHmac('sha256', secret).update(`${t}.${text}`).digest('hex');

test('a signed body is an event', async () => {
	const header = `t=${now},v1=${sign('whsec_a')}`;
	expect(await verifyWebhook(body, header, 'whsec_a', { now })).toMatchObject({ id: 'evt_1', type: 'quota.warning' });
	expect(await verifyWebhook(new TextEncoder().encode(body), header, 'whsec_a', { now: now + 300 })).toMatchObject({ id: 'evt_1' });
});

test('a rotation is valid with both secrets, on both sides', async () => {
	const both = `t=${now},v1=${sign('whsec_new')},v1=${sign('whsec_old')}`;
	for (const secrets of ['whsec_new', 'whsec_old', ['whsec_older', 'whsec_old']]) {
		expect(await verifyWebhook(body, both, secrets, { now })).toMatchObject({ id: 'evt_1' });
	}
	expect(await verifyWebhook(body, `t=${now},v1=${sign('whsec_old')}`, ['whsec_new', 'whsec_old'], { now })).toMatchObject({ id: 'evt_1' });
});

test.each([
	['another body', `${body} `, `t=${now},v1=${sign('whsec_a')}`, 'whsec_a', now],
	['another secret', body, `t=${now},v1=${sign('whsec_b')}`, 'whsec_a', now],
	['too old', body, `t=${now},v1=${sign('whsec_a')}`, 'whsec_a', now + 301],
	['from the future', body, `t=${now},v1=${sign('whsec_a')}`, 'whsec_a', now - 301],
	['another time', body, `t=${now + 1},v1=${sign('whsec_a')}`, 'whsec_a', now],
	['no time', body, `v1=${sign('whsec_a')}`, 'whsec_a', now],
	['another scheme', body, `t=${now},v2=${sign('whsec_a')}`, 'whsec_a', now],
	['half a signature', body, `t=${now},v1=${sign('whsec_a').slice(0, 32)}`, 'whsec_a', now],
	['no header', body, null, 'whsec_a', now],
	['an empty secret', body, `t=${now},v1=${sign('')}`, '', now],
	['no secrets', body, `t=${now},v1=${sign('')}`, [], now],
])('%s is refused', async (_, text, header, secret, at) => {
	expect(await failure(verifyWebhook(text, header, secret, { now: at }))).toBeInstanceOf(SignatureError);
});
