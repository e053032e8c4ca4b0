import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { checkSignature } from './signature';

const secret = 'whsec_test';
const body = '{"id":"evt_1","data":{"mobile":"XXXXXX3210"}}';
const now = new Date('2026-11-21T06:00:00Z');
const stamp = now.getTime() / 1000 - 60;
const signed = (text: string, key = secret) => createHmac('sha256', key).update(`${stamp}.${text}`).digest('hex');
const header = `t=${stamp},v1=${signed(body)}`;

test.each([
	['the body as it was sent', secret, header, body, { result: 'valid', age: 60 }],
	['the header with its name', secret, `X-SERVICE-Signature: ${header}`, body, { result: 'valid', age: 60 }],
	['a header that a terminal broke into lines', secret, header.replace(/.{40}/, '$&\n'), body, { result: 'valid', age: 60 }],
	['the second of two secrets', secret, `t=${stamp},v1=${signed(body, 'old')},v1=${signed(body)}`, body, { result: 'valid', age: 60 }],
	['a line break that an editor added', secret, header, `${body}\n`, { result: 'lines', age: 60 }],
	['a body that was parsed and printed', secret, header, JSON.stringify(JSON.parse(body), null, 2), { result: 'compact', age: 60 }],
	['another secret', 'whsec_other', header, body, { result: 'different' }],
	['a changed body', secret, header, body.replace('evt_1', 'evt_2'), { result: 'different' }],
	['a header without a time', secret, `v1=${signed(body)}`, body, { result: 'malformed' }],
	['a header without a signature', secret, `t=${stamp}`, body, { result: 'malformed' }],
	['no header', secret, '', body, { result: 'malformed' }],
	['no secret', '', header, body, { result: 'malformed' }],
])('%s', async (_, key, sent, text, want) => {
	expect(await checkSignature(key, sent, text, now)).toEqual(want);
});
