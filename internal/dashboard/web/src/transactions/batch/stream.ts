import { api, Problem } from '../../api/client';
import { head, line } from './csv';
import type { Kind } from './kind';

/** results asks for all results of a batch, as lines that come as they are read. */
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

/** turn is how many milliseconds of lines are worked on before the browser may do something else. */
const turn = 25;

/**
 * lines splits a stream into its lines, without their ends. A stream that breaks off
 * throws; nothing of it is taken for the whole.
 */
export async function* lines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
	const reader = stream.getReader();
	const decoder = new TextDecoder();
	let rest = '';
	let begun = performance.now();
	try {
		for (;;) {
			const { done, value } = await reader.read();
			// What has already arrived is read without a pause, however much it is.
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

/** part is how much text is gathered before it is handed to the browser, which keeps it out of the page's memory. */
const part = 1 << 20;

/** download gathers all results of a batch in a file; progress is told how many there are so far. */
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

/** Failures are the first results of a batch that did not go well, and how many there are. */
export interface Failures<T> {
	rows: T[];
	count: number;
}

/** mostFailures is how many are shown; the rest is in the download. */
export const mostFailures = 100;

/** failures looks through all results of a batch for those that have failed or were refused. */
export async function failures<T extends { status: string }>(kind: Kind, id: string, signal: AbortSignal): Promise<Failures<T>> {
	const rows: T[] = [];
	let count = 0;
	for await (const one of lines(await results(kind, id, signal))) {
		const result = JSON.parse(one) as T;
		if (result.status !== 'failed' && result.status !== 'error') {
			continue;
		}
		count++;
		if (rows.length < mostFailures) {
			rows.push(result);
		}
	}
	return { rows, count };
}
