import { ConnectionError, ProblemError, TimeoutError } from './error.js';
import { Pace } from './pace.js';
import { RequestSigner } from './signature.js';

/** Returns the API key. `rejected` is the previous one, if the service has just rejected it. */
export type KeySource = (rejected?: string) => string | Promise<string>;

export interface Options {
	/** URL of the service, such as `https://api.example.com`. */
	baseUrl: string;
	/** API key, or a function that returns the present one. */
	key: string | KeySource;
	/** Signing secret of a key that requires signed requests. */
	signingSecret?: string;
	/** Limit of one attempt in milliseconds; the default is 30,000. */
	timeout?: number;
	/** Number of attempts after the first one; the default is 4. */
	retries?: number;
	/** Longest wait before a retry in milliseconds; the default is 60,000. A longer `Retry-After` ends the call. */
	maxWait?: number;
	/** Whether calls wait while the rate limit is used up; the default is true. */
	waitForRateLimit?: boolean;
	/** Replaces the global `fetch`. */
	fetch?: typeof fetch;
	/** Replaces timers, for tests. */
	sleep?: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
	/** Replaces the clock, in milliseconds, for tests. */
	now?: () => number;
}

export interface Outgoing {
	method: string;
	/** Path of the contract, with placeholders. */
	route: string;
	url: URL;
	headers: Record<string, string>;
	body: string | undefined;
	signal: AbortSignal | undefined;
	timeout: number | undefined;
	/** Whether a repetition has no further effect. */
	idempotent: boolean;
}

/** A reply. `text` is absent if the caller reads the body. */
export interface Incoming {
	response: Response;
	text: string;
}

const firstBackoff = 500;
const maxBackoff = 16_000;

/** Transport sends requests with key, signature, timeout and retries. */
export class Transport {
	readonly options: Options;
	readonly #pace = new Pace();
	readonly #signer: RequestSigner | undefined;
	#rejected: string | undefined;

	constructor(options: Options) {
		this.options = options;
		this.#signer = options.signingSecret === undefined ? undefined : new RequestSigner(options.signingSecret);
	}

	/** Sends a request until it succeeds or a retry cannot help. With `stream`, the caller reads the body. */
	async send(call: Outgoing, stream = false): Promise<Incoming> {
		const retries = this.options.retries ?? 4;
		let renewed = false;
		for (let attempt = 0; ; attempt++) {
			await this.#waitForRateLimit(call);
			const key = await this.#key();
			const failure = await this.#attempt(call, key, stream);
			if (!(failure instanceof Error)) return failure;
			if (!renewed && failure instanceof ProblemError && failure.status === 401 && typeof this.options.key === 'function') {
				// A second key is not an attempt: the service has done nothing with the first one.
				renewed = true;
				this.#rejected = key;
				attempt--;
				continue;
			}
			if (attempt >= retries || !canRetry(failure, call)) throw failure;
			const wait = this.backoff(attempt, failure instanceof ProblemError ? failure.retryAfter : undefined);
			if (wait > (this.options.maxWait ?? 60_000)) throw failure;
			await this.sleep(wait, call.signal);
		}
	}

	/** Returns the wait before a retry: exponential with jitter, and at least Retry-After. */
	backoff(attempt: number, retryAfter = 0): number {
		const longest = Math.min(maxBackoff, firstBackoff * 2 ** attempt);
		return Math.max(1000 * retryAfter, longest * (0.5 + Math.random() / 2));
	}

	async sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
		signal?.throwIfAborted();
		await (this.options.sleep ?? sleep)(milliseconds, signal);
	}

	async #waitForRateLimit(call: Outgoing): Promise<void> {
		if (this.options.waitForRateLimit === false) return;
		const wait = this.#pace.delay(call.route, this.#now());
		if (wait > 0) await this.sleep(wait, call.signal);
	}

	async #key(): Promise<string> {
		const { key } = this.options;
		if (typeof key === 'string') return key;
		const rejected = this.#rejected;
		this.#rejected = undefined;
		return key(rejected);
	}

	/** Makes one attempt, and returns an error that a retry may help against. */
	async #attempt(call: Outgoing, key: string, stream: boolean): Promise<Incoming | ProblemError | ConnectionError> {
		const headers = new Headers(call.headers);
		headers.set('Authorization', `Bearer ${key}`);
		if (call.body !== undefined) headers.set('Content-Type', 'application/json');
		if (this.#signer) {
			const signature = await this.#signer.sign(call.method, call.url, headers, call.body ?? '', this.#now() / 1000);
			headers.set('X-SERVICE-Request-Signature', signature);
		}
		call.signal?.throwIfAborted();
		const limit = call.timeout ?? this.options.timeout ?? 30_000;
		const late = new AbortController();
		const timer = setTimeout(() => late.abort(), limit);
		const signal = call.signal ? AbortSignal.any([late.signal, call.signal]) : late.signal;
		try {
			const init = { method: call.method, headers, signal, body: call.body ?? null };
			const response = await (this.options.fetch ?? fetch)(call.url, init);
			this.#pace.observe(call.route, response.headers, this.#now());
			const good = response.ok || response.status === 304;
			const text = good && stream ? '' : await response.text();
			return good ? { response, text } : new ProblemError(response.status, response.headers, text);
		} catch (cause) {
			if (call.signal?.aborted) throw call.signal.reason;
			const what = `${call.method} ${call.route}`;
			if (late.signal.aborted) return new TimeoutError(`${what}: no reply within ${limit} ms`, { cause });
			return new ConnectionError(`${what}: the connection failed`, { cause });
		} finally {
			clearTimeout(timer);
		}
	}

	#now(): number {
		return (this.options.now ?? Date.now)();
	}
}

// A rejected request has changed nothing. After other failures, only an idempotent request can be repeated.
function canRetry(failure: ProblemError | ConnectionError, call: Outgoing): boolean {
	if (failure instanceof ConnectionError) return call.idempotent;
	return failure.retryable && (call.idempotent || failure.status === 429);
}

function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
	return new Promise((resolve, reject) => {
		const abort = () => {
			clearTimeout(timer);
			reject(signal?.reason);
		};
		const timer = setTimeout(() => {
			signal?.removeEventListener('abort', abort);
			resolve();
		}, milliseconds);
		signal?.addEventListener('abort', abort, { once: true });
	});
}
