import { expect, test } from 'vitest';
import { type Operation, parse, samplesOf, words } from './samples';

const json: Operation = { responses: { '200': { content: { 'application/json': {} } } } };
const key = '-H "Authorization: Bearer $KEY"';

test('a command is split at spaces outside quotes, also over lines', () => {
	expect(words('curl -d \'{"a": "b c"}\' \\\n  "$BASE/v1/x?a=1"')).toEqual(['curl', '-d', '{"a": "b c"}', '$BASE/v1/x?a=1']);
});

test.each([
	[
		'a query',
		'/v1/aqi',
		`curl ${key} "$BASE/v1/aqi?city=Delhi&days=7"`,
		{ method: 'get', query: { city: 'Delhi', days: '7' }, json: true },
	],
	['a path', '/v1/t/{z}/{x}.mvt', `curl -o t.mvt ${key} "$BASE/v1/t/4/11.mvt"`, { path: { z: '4', x: '11' }, file: 't.mvt', json: false }],
	['a body', '/v1/k', `curl ${key} -H "Content-Type: application/json" -d '{"a": [1]}' "$BASE/v1/k"`, { method: 'post', body: { a: [1] } }],
	['a method', '/v1/k/{id}', `curl -X DELETE ${key} "$BASE/v1/k/key_1"`, { method: 'delete', path: { id: 'key_1' } }],
	['another type', '/v1/k', `curl ${key} -H "Accept: text/csv" "$BASE/v1/k"`, { headers: { Accept: 'text/csv' }, json: false }],
	['no key', '/healthz', 'curl "$BASE/healthz"', { keyed: false }],
])('a command with %s is a call', (_, route, command, call) => {
	expect(parse(route, json, command)).toMatchObject(call);
});

test.each([
	['cookies', `curl -b cookies "$BASE/v1/k"`],
	['another body', `curl ${key} -H "Content-Type: application/x-ndjson" -d '{}' "$BASE/v1/k"`],
	['another path', `curl ${key} "$BASE/v2/k"`],
	['a continued file', `curl -C - -o file ${key} "$BASE/v1/k"`],
])('a command with %s has no sample of an SDK', (_, source) => {
	const operation = { ...json, 'x-codeSamples': [{ lang: 'Shell', label: 'One', source }] };
	expect(samplesOf('/v1/k', operation).map(({ label }) => label)).toEqual(['curl']);
});

test('a long command has its URL in a line of its own', () => {
	const operation = (source: string) => ({ 'x-codeSamples': [{ lang: 'Shell', label: 'One', source }] });
	const long = `curl ${key} "$BASE/v1/rankings?period=month&order=lowest"`;
	expect(samplesOf('/v1/rankings', operation(long))[0]?.source).toBe(`curl ${key} \\\n  "$BASE/v1/rankings?period=month&order=lowest"`);
	const short = 'curl "$BASE/healthz"';
	expect(samplesOf('/healthz', operation(short))[0]?.source).toBe(short);
});

test('texts are quoted in each language', () => {
	const source = `curl ${key} -H "Content-Type: application/json" -d '{"say": "it\\u0027s \\"so\\"", "no": null, "yes": true}' "$BASE/v1/k"`;
	const [, typescript, python, go] = samplesOf('/v1/k', { ...json, 'x-codeSamples': [{ lang: 'Shell', label: 'One', source }] });
	expect(typescript?.source).toContain(`body: { say: 'it\\'s "so"', no: null, yes: true }`);
	expect(python?.source).toContain(`body={"say": "it's \\"so\\"", "no": None, "yes": True}`);
	expect(go?.source).toContain(`body := map[string]any{"say": "it's \\"so\\"", "no": nil, "yes": true}`);
});
