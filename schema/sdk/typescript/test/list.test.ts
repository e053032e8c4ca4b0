import { expect, test } from 'vitest';
import { failure, fixture, json, problem } from './fixture.js';

const cities = [{ city: 'Delhi' }, { city: 'Pune' }, { city: 'Surat' }];

test('entries of all pages', async () => {
	const { client, received } = await fixture((request, reply) => {
		const at = Number(new URL(request.url, 'http://x').searchParams.get('cursor') ?? 0);
		const more = at + 2 < cities.length;
		json(reply, 200, { status: 'success', data: cities.slice(at, at + 2), has_more: more, next_cursor: more ? String(at + 2) : null });
	});
	const names: string[] = [];
	for await (const city of client.entries('/v1/cities', { query: { limit: 2, state: 'Goa' } })) names.push(city.city);
	expect(names).toEqual(['Delhi', 'Pune', 'Surat']);
	expect(received.map((request) => request.url)).toEqual(['/v1/cities?limit=2&state=Goa', '/v1/cities?limit=2&state=Goa&cursor=2']);
});

test('a page is requested only when it is needed', async () => {
	const { client, received } = await fixture((_, reply, count) =>
		json(reply, 200, { status: 'success', data: cities, has_more: true, next_cursor: String(count) }),
	);
	for await (const city of client.entries('/v1/cities')) if (city.city === 'Surat') break;
	expect(received).toHaveLength(1);
});

test('results of batches', async () => {
	const { client } = await fixture((_, reply) =>
		json(reply, 200, { status: 'success', results: [{ index: 0, status: 'queued' }], has_more: false, next_cursor: null }),
	);
	const got = [];
	for await (const result of client.entries('/v1/verification/batch/{id}/results', { path: { id: 'bat_1' } })) got.push(result.index);
	expect(got).toEqual([0]);
});

test('a cursor that does not advance ends the list', async () => {
	const { client, received } = await fixture((_, reply) => json(reply, 200, { data: [], has_more: true, next_cursor: 'same' }));
	const pages = client.pages('/v1/cities');
	await pages.next();
	await pages.next();
	expect(await failure(pages.next())).toMatchObject({ message: expect.stringContaining('next_cursor') });
	expect(received).toHaveLength(2);
});

test('an error on a later page reaches the caller', async () => {
	const { client } = await fixture((_, reply, count) =>
		count === 0
			? json(reply, 200, { data: [], has_more: true, next_cursor: '1' })
			: problem(reply, 400, 'invalid_request', { field: 'cursor' }),
	);
	const entries = client.entries('/v1/cities');
	expect(await failure(entries.next())).toMatchObject({ field: 'cursor' });
});
