import { expect, test, vi } from 'vitest';
import { chunks, parseSSE } from '../src/live.js';
import { failure, fixture, problem } from './fixture.js';

const air = (id: number) => `id: ${id}\nevent: air\ndata: {"updated":"2026-11-21T03:30:00Z","cities":${id}}\n\n`;

test('a cut stream continues after the last message', async () => {
	const { client, received, waits } = await fixture((_, reply, count) => {
		reply.writeHead(200, { 'Content-Type': 'text/event-stream' });
		// The second message of the first stream is incomplete, so it must not be delivered.
		if (count === 0) reply.write(`retry: 5000\n${air(1)}id: 2\nevent: air\ndata: {}`, () => reply.destroy());
		else if (count === 1) reply.end('id: 7\n: nothing new\n\n');
		else reply.write(air(8));
	});
	const stop = new AbortController();
	const got: unknown[] = [];
	for await (const message of client.live({ kinds: ['air'], signal: stop.signal })) {
		got.push([message.event, message.id, 'cities' in message.data ? message.data.cities : undefined]);
		if (message.id === '8') stop.abort();
	}
	expect(got).toEqual([
		['air', '1', 1],
		['air', '8', 8],
	]);
	expect(received.map((request) => request.headers['last-event-id'])).toEqual([undefined, '1', '7']);
	expect(received[0]?.url).toBe('/v1/live?kinds=air');
	expect(waits).toEqual([5000, 5000]);
});

test('a rejected stream throws', async () => {
	const { client, received } = await fixture((_, reply) => problem(reply, 401, 'key_revoked'));
	expect(await failure(client.live().next())).toMatchObject({ code: 'key_revoked' });
	expect(received).toHaveLength(1);
});

test('a service that is away is called again', async () => {
	const { client, received } = await fixture((_, reply, count) => (count < 3 ? reply.destroy() : reply.writeHead(200).write(air(1))), {
		retries: 0,
	});
	const stream = client.live();
	expect((await stream.next()).value).toMatchObject({ id: '1' });
	await stream.return(undefined);
	expect(received).toHaveLength(4);
});

test('messages are independent of chunks and line ends', async () => {
	const text = 'id: 1\r\nevent: a\r\ndata: ü\r\ndata: x\r\n\r\ndata:y\n\n: comment\n\nevent: b\n\nid: 3\ndata\rdata: z\r\n\n';
	const bytes = new TextEncoder().encode(text);
	for (const size of [1, 2, 3, 7, bytes.length]) {
		async function* parts() {
			for (let i = 0; i < bytes.length; i += size) yield bytes.slice(i, i + size);
		}
		const got = [];
		for await (const message of parseSSE(
			parts(),
			() => {},
			() => {},
		))
			got.push(message);
		expect(got).toEqual([
			{ event: 'a', id: '1', data: 'ü\nx' },
			{ event: 'message', id: '1', data: 'y' },
			{ event: 'message', id: '3', data: '\nz' },
		]);
	}
});

test('a silent connection ends', async () => {
	vi.useFakeTimers();
	try {
		const response = new Response(new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(1)) }));
		const stream = chunks(response, 45_000);
		await stream.next();
		const end = failure(stream.next());
		await vi.advanceTimersByTimeAsync(45_000);
		expect(await end).toMatchObject({ name: 'ConnectionError' });
	} finally {
		vi.useRealTimers();
	}
});
