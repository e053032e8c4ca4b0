import { api, Problem } from '../../api/client';
import { head, line } from './csv';
import type { Kind } from './kind';

/** results requests all results of a batch as a stream of JSON Lines. */
async function results(kind: Kind, id: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
	const init = { params: { path: { id } }, headers: { Accept: 'application/x-ndjson' }, parseAs: 'stream', signal } as const;
	const { data, response } = await (kind === 'recharge'
		? api.GET('/v1/recharge/batch/{id}/results', init)
		: api.GET('/v1/verification/batch/{id}/results', init));
	if (!response.ok || !data) {
		throw new Problem(response.status, undefined);
	}
	return data as ReadableStream<Uint8Array>;
}

/** turn is how long lines are processed before the browser can handle other events, in milliseconds. */
const turn = 25;

/**
 * lines splits a stream into lines without their line ends. It throws if the stream breaks off, so that a partial
 * result is never used as complete.
 */
export async function* lines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
	const reader = stream.getReader();
	const decoder = new TextDecoder();
	let rest = '';
	let begun = performance.now();
	try {
		for (;;) {
			const { done, value } = await reader.read();
			// Reads of buffered data resolve without yielding to the browser, so yield here.
			if (performance.now() - begun > turn) {
				await new Promise((resume) => setTimeout(resume, 0));
				begun = performance.now();
			}
			rest += decoder.decode(value, { stream: !done });
			const found = rest.split('\n');
			rest = found.pop() ?? '';
			yield* found.filter((text) => text !== '');
			if (done) {
				break;
			}
		}
		if (rest !== '') {
			yield rest;
		}
	} finally {
		reader.releaseLock();
	}
}

/**
 * part is the length of text that is collected before it is added to the Blob, which the browser stores outside
 * the page's heap.
 */
const part = 1 << 20;

/** download writes all results of a batch into a Blob. progress is called with the number of results so far. */
export async function download(
	kind: Kind,
	id: string,
	form: 'csv' | 'ndjson',
	signal: AbortSignal,
	progress: (count: number) => void,
): Promise<Blob> {
	const type = form === 'csv' ? 'text/csv' : 'application/x-ndjson';
	let file = new Blob(form === 'csv' ? [head(kind)] : [], { type });
	let text = '';
	let count = 0;
	for await (const one of lines(await results(kind, id, signal))) {
		text += form === 'csv' ? line(kind, JSON.parse(one) as Record<string, unknown>) : `${one}\n`;
		count++;
		if (text.length >= part) {
			file = new Blob([file, text], { type });
			text = '';
			progress(count);
		}
	}
	progress(count);
	return new Blob([file, text], { type });
}

/** Selected are the first of some results of a batch, and the number of all of them. */
export interface Selected<T> {
	rows: T[];
	count: number;
}

/** mostSelected is the maximum number of selected results that are shown. The download contains all. */
export const mostSelected = 100;

/** selected reads all results of a batch and returns those for which matters is true. */
export async function selected<T>(kind: Kind, id: string, matters: (result: T) => boolean, signal: AbortSignal): Promise<Selected<T>> {
	const rows: T[] = [];
	let count = 0;
	for await (const one of lines(await results(kind, id, signal))) {
		const result = JSON.parse(one) as T;
		if (!matters(result)) {
			continue;
		}
		count++;
		if (rows.length < mostSelected) {
			rows.push(result);
		}
	}
	return { rows, count };
}
