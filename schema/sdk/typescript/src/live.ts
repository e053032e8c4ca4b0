import { ConnectionError, ProblemError } from './error.js';

/** A message of an SSE stream. */
export interface SSEMessage {
	event: string;
	id: string;
	data: string;
}

/**
 * Parses an SSE stream. An incomplete last message is discarded, as the specification of SSE demands. `onRetry` gets the
 * delay of a reconnection, and `onID` each id, also one without a message.
 */
export async function* parseSSE(
	stream: AsyncIterable<Uint8Array>,
	onRetry: (milliseconds: number) => void,
	onID: (id: string) => void,
): AsyncGenerator<SSEMessage> {
	const decoder = new TextDecoder();
	let rest = '';
	let id = '';
	let event = '';
	let data: string[] = [];
	for await (const chunk of stream) {
		rest += decoder.decode(chunk, { stream: true });
		// A carriage return at the end can belong to a line feed that has not arrived.
		const lines = rest.split(/\r\n|\n|\r(?!$)/);
		rest = lines.pop() ?? '';
		for (const line of lines) {
			if (line === '') {
				if (id !== '') onID(id);
				if (data.length > 0) yield { event: event || 'message', id, data: data.join('\n') };
				event = '';
				data = [];
				continue;
			}
			const colon = line.indexOf(':');
			const name = colon < 0 ? line : line.slice(0, colon);
			const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
			if (name === 'data') data.push(value);
			else if (name === 'event') event = value;
			else if (name === 'id' && !value.includes('\0')) id = value;
			else if (name === 'retry' && /^\d+$/.test(value)) onRetry(Number(value));
		}
	}
}

/**
 * Reads the chunks of a reply. If none arrives for `silence` milliseconds, it ends with an error: a dead connection
 * reports nothing.
 */
export async function* chunks(response: Response, silence: number, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
	const reader = response.body?.getReader();
	if (!reader) return;
	let timer: ReturnType<typeof setTimeout> | undefined;
	let abort: () => void = () => {};
	const ended = new Promise<never>((_, reject) => {
		abort = () => reject(signal?.reason);
		signal?.addEventListener('abort', abort, { once: true });
	});
	ended.catch(() => {});
	try {
		for (;;) {
			const silent = new Promise<never>((_, reject) => {
				timer = setTimeout(() => reject(new ConnectionError(`the stream was silent for ${silence} ms`)), silence);
			});
			const { done, value } = await Promise.race([reader.read(), silent, ended]);
			clearTimeout(timer);
			if (done) return;
			yield value;
		}
	} finally {
		clearTimeout(timer);
		signal?.removeEventListener('abort', abort);
		reader.cancel().catch(() => {});
	}
}

/** Reports whether a stream can be opened again after a failure. */
export function canReconnect(failure: unknown): boolean {
	return !(failure instanceof ProblemError) || failure.retryable;
}
