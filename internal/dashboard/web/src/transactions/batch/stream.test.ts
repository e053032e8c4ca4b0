import { expect, test } from 'vitest';
import { lines } from './stream';

async function read(chunks: Uint8Array[], broken?: Error): Promise<string[]> {
	const stream = new ReadableStream<Uint8Array>({
		start(controller) {
			for (const chunk of chunks) {
				controller.enqueue(chunk);
			}
			if (broken) {
				controller.error(broken);
			} else {
				controller.close();
			}
		},
	});
	const got: string[] = [];
	for await (const line of lines(stream)) {
		got.push(line);
	}
	return got;
}

test('lines are complete wherever the chunks of a stream end', async () => {
	const bytes = new TextEncoder().encode('{"name":"आशा"}\n{"b":2}\n\n{"c":3}');
	for (let size = 1; size <= bytes.length; size++) {
		const chunks: Uint8Array[] = [];
		for (let at = 0; at < bytes.length; at += size) {
			chunks.push(bytes.subarray(at, at + size));
		}
		expect(await read(chunks)).toEqual(['{"name":"आशा"}', '{"b":2}', '{"c":3}']);
	}
});

test('a stream that breaks off throws', async () => {
	await expect(read([], new TypeError('network error'))).rejects.toThrow('network error');
});
