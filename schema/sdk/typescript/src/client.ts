import type { Arguments, CallOptions, Entry, ListPath, LiveMessage, Method, Operation, PathWith, Reply } from './contract.js';
import { VayuError } from './error.js';
import { canReconnect, chunks, parseSSE } from './live.js';
import type { paths } from './made/schema.js';
import { type Incoming, type Options, Transport } from './transport.js';

/** POSTs that take no `Idempotency-Key`. The `ref_id` of a recharge has the same effect. */
export const postsWithoutKey: readonly string[] = [
	'/v1/recharge',
	'/v1/sessions',
	'/v1/sessions/current/mode',
	'/v1/sign-in-links',
	'/v1/sign-in-links/confirm',
	'/v1/signup',
	'/v1/signup/confirm',
	'/callbacks/{provider}',
];

export interface LiveOptions {
	/** Kinds of messages; the default is all that the key can read. */
	kinds?: readonly ('air' | 'batch' | 'delivery' | 'event')[];
	/** `id` of the last message that was processed. */
	lastEventID?: string;
	/** Ends the stream. */
	signal?: AbortSignal;
	/** Silence in milliseconds after which the client reconnects; the default is 45,000. The service sends something every 15 s. */
	silence?: number;
}

interface AnyCall extends CallOptions {
	query?: Record<string, unknown>;
	path?: Record<string, string | number>;
	body?: unknown;
}

/** Vayu is a client of the API. Its methods take the paths of the contract, and throw a VayuError. */
export class Vayu {
	readonly #transport: Transport;

	constructor(options: Options) {
		this.#transport = new Transport(options);
	}

	get<P extends PathWith<'get'>>(path: P, ...[call]: Arguments<Operation<P, 'get'>>): Promise<Reply<Operation<P, 'get'>>> {
		return this.#json('get', path, call);
	}

	post<P extends PathWith<'post'>>(path: P, ...[call]: Arguments<Operation<P, 'post'>>): Promise<Reply<Operation<P, 'post'>>> {
		return this.#json('post', path, call);
	}

	put<P extends PathWith<'put'>>(path: P, ...[call]: Arguments<Operation<P, 'put'>>): Promise<Reply<Operation<P, 'put'>>> {
		return this.#json('put', path, call);
	}

	patch<P extends PathWith<'patch'>>(path: P, ...[call]: Arguments<Operation<P, 'patch'>>): Promise<Reply<Operation<P, 'patch'>>> {
		return this.#json('patch', path, call);
	}

	delete<P extends PathWith<'delete'>>(path: P, ...[call]: Arguments<Operation<P, 'delete'>>): Promise<Reply<Operation<P, 'delete'>>> {
		return this.#json('delete', path, call);
	}

	/** Returns the reply itself, for images, tiles, exports, GeoJSON and 304. The timeout ends with the headers. */
	async response<P extends PathWith<'get'>>(path: P, ...[call]: Arguments<Operation<P, 'get'>>): Promise<Response> {
		return (await this.#send('get', path, call as AnyCall, true)).response;
	}

	/** Iterates over the pages of a list. */
	async *pages<P extends ListPath>(path: P, ...[call]: Arguments<Operation<P, 'get'>>): AsyncGenerator<Reply<Operation<P, 'get'>>> {
		let { query } = (call ?? {}) as AnyCall;
		for (;;) {
			const page = await this.#json<Reply<Operation<P, 'get'>>>('get', path, { ...(call as object), query });
			yield page;
			const { has_more, next_cursor } = page as { has_more: boolean; next_cursor: string | null };
			if (!has_more || !next_cursor) return;
			if (next_cursor === query?.cursor) throw new VayuError(`GET ${path}: next_cursor is the cursor of the same page`);
			query = { ...query, cursor: next_cursor };
		}
	}

	/** Iterates over the entries of a list, and requests each page when it is needed. */
	async *entries<P extends ListPath>(
		path: P,
		...[call]: Arguments<Operation<P, 'get'>>
	): AsyncGenerator<Entry<Reply<Operation<P, 'get'>>>> {
		for await (const page of this.pages(path, ...([call] as Arguments<Operation<P, 'get'>>))) {
			const { data, results } = page as unknown as { data?: Entry<typeof page>[]; results?: Entry<typeof page>[] };
			yield* data ?? results ?? [];
		}
	}

	/**
	 * Iterates over the messages of `GET /v1/live`. It reconnects with `Last-Event-ID`, so a message can be repeated. After
	 * a `reset`, read the objects of its kinds again. It ends when `signal` aborts, and throws if the service rejects it.
	 */
	async *live(options: LiveOptions = {}): AsyncGenerator<LiveMessage> {
		const { signal, kinds } = options;
		let last = options.lastEventID;
		let retry = 2000;
		let failures = 0;
		const query = kinds ? { kinds: kinds.join(',') } : {};
		while (!signal?.aborted) {
			try {
				const headers: Record<string, string> = { Accept: 'text/event-stream' };
				if (last) headers['Last-Event-ID'] = last;
				const call: AnyCall = signal ? { query, headers, signal } : { query, headers };
				const { response } = await this.#send('get', '/v1/live', call, true);
				const messages = parseSSE(
					chunks(response, options.silence ?? 45_000, signal),
					(milliseconds) => {
						retry = milliseconds;
					},
					(id) => {
						last = id;
					},
				);
				for await (const message of messages) {
					failures = 0;
					yield { ...message, data: JSON.parse(message.data) } as LiveMessage;
				}
			} catch (failure) {
				if (signal?.aborted) return;
				if (!canReconnect(failure)) throw failure;
			}
			const wait = Math.max(retry, this.#transport.backoff(failures++));
			await this.#transport.sleep(wait, signal).catch((reason: unknown) => {
				if (!signal?.aborted) throw reason;
			});
		}
	}

	async #json<T>(method: Method, path: keyof paths, call: unknown): Promise<T> {
		const { text } = await this.#send(method, path, call as AnyCall, false);
		try {
			return JSON.parse(text);
		} catch (cause) {
			throw new VayuError(`${method.toUpperCase()} ${path}: the reply is not JSON`, { cause });
		}
	}

	#send(method: Method, route: string, call: AnyCall = {}, stream: boolean): Promise<Incoming> {
		const headers = { ...call.headers };
		const takesKey = method === 'post' && !postsWithoutKey.includes(route);
		if (takesKey) headers['Idempotency-Key'] = call.idempotencyKey ?? crypto.randomUUID();
		return this.#transport.send(
			{
				method: method.toUpperCase(),
				route,
				url: this.#url(route, call),
				headers,
				body: call.body === undefined ? undefined : JSON.stringify(call.body),
				signal: call.signal,
				timeout: call.timeout,
				idempotent: method !== 'post' || takesKey || route === '/v1/recharge',
			},
			stream,
		);
	}

	#url(route: string, call: AnyCall): URL {
		const filled = route.replace(/\{(\w+)\}/g, (_, name: string) => {
			const value = call.path?.[name];
			if (value === undefined || value === '') throw new VayuError(`${route}: path.${name} is missing`);
			return encodeURIComponent(value);
		});
		const url = new URL(this.#transport.options.baseUrl.replace(/\/+$/, '') + filled);
		for (const [name, value] of Object.entries(call.query ?? {})) {
			if (value !== undefined && value !== null) url.searchParams.set(name, String(value));
		}
		return url;
	}
}
