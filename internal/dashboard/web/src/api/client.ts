import createClient from 'openapi-fetch';
import type { components, paths } from '../../made/schema';

/** The schemas of openapi.yaml, by name. */
export type Schemas = components['schemas'];

/**
 * api calls the public API with the browser's session. Paths, parameters and replies are those of openapi.yaml,
 * so any client can fetch what a page shows.
 */
// TanStack Query and the SSE stream decide when a reply is stale. The HTTP cache must revalidate every time, or a
// refetch after a notice could return old data.
export const api = createClient<paths, 'application/json'>({ baseUrl: '/dashboard', cache: 'no-cache' });

/** withKey calls the public API with an API key, to exchange it for a session. */
export const withKey = createClient<paths, 'application/json'>({ baseUrl: '/' });

/** Problem is an error reply of the API, or a network error. */
export class Problem extends Error {
	/** status is the HTTP status; 0 without a reply. */
	readonly status: number;
	/** code is an error code of openapi.yaml; offline without a reply. */
	readonly code: string;
	/** field names the invalid field of the request; undefined if none is. */
	readonly field: string | undefined;
	readonly details: readonly { field?: string; code?: string; message: string }[];
	/** choices are the places that an ambiguous name can mean, or names similar to an unknown one. */
	readonly choices: readonly string[];
	readonly request: string | undefined;
	/** retryAfter is the number of seconds to wait before a retry. */
	readonly retryAfter: number | undefined;

	constructor(status: number, body: unknown, retryAfter?: number) {
		const error = (body as { error?: Record<string, unknown> } | undefined)?.error ?? {};
		super(typeof error.message === 'string' ? error.message : '');
		this.status = status;
		this.code = typeof error.code === 'string' ? error.code : status === 0 ? 'offline' : `http_${status}`;
		this.field = typeof error.field === 'string' ? error.field : undefined;
		this.details = Array.isArray(error.details) ? (error.details as Problem['details']) : [];
		const choices = error.candidates ?? error.suggestions;
		this.choices = Array.isArray(choices) ? choices.map(String) : [];
		this.request = typeof error.request_id === 'string' ? error.request_id : undefined;
		this.retryAfter = retryAfter;
	}

	/** atField returns an error that the page itself reports at a field of a form. */
	static atField(field: string, message: string): Problem {
		return new Problem(422, { error: { code: 'invalid_request', field, message } });
	}

	/** atFields returns an error that the page itself reports at several fields of a form. */
	static atFields(messages: Readonly<Record<string, string>>): Problem {
		const details = Object.entries(messages).map(([field, message]) => ({ field, message }));
		return new Problem(422, { error: { code: 'invalid_request', message: details[0]?.message, field: details[0]?.field, details } });
	}

	/** messageOf returns the error message of a field or of a part of it: events.2 is part of events. */
	messageOf(field: string): string | undefined {
		const about = (named: string | undefined) => named === field || named?.startsWith(`${field}.`);
		const detail = this.details.find((detail) => about(detail.field));
		return detail?.message ?? (about(this.field) ? this.message : undefined);
	}

	/** passing reports whether a retry can succeed. */
	get passing(): boolean {
		return this.status === 0 || this.status === 429 || this.status >= 500;
	}
}

/** problemOf converts a thrown value. Anything but a Problem is reported as a network error. */
export function problemOf(error: unknown): Problem {
	return error instanceof Problem ? error : new Problem(0, undefined);
}

/**
 * rethrowWith returns a handler that throws an error again. texts are the page's own messages by field: if the API names one
 * of these fields, the error has the message of the page.
 */
export function rethrowWith(texts: Readonly<Record<string, string>>): (error: unknown) => never {
	return (error) => {
		const problem = problemOf(error);
		const text = problem.field === undefined ? undefined : texts[problem.field];
		throw problem.field === undefined || text === undefined ? problem : Problem.atField(problem.field, text);
	};
}

/** unlessRefused waits for a call, and returns "refused" if the API names the field as invalid. It throws other errors. */
export async function unlessRefused<T>(call: Promise<T>, field: string): Promise<T | 'refused'> {
	return call.catch((error: unknown) => {
		const problem = problemOf(error);
		if (problem.field === field) {
			return 'refused' as const;
		}
		throw problem;
	});
}

/** Reply is the result of an API call. */
export type Reply<T> = { data?: T; error?: unknown; response: Response };

/** clock compares this computer with the service. ahead is how far its clock is ahead, in milliseconds. */
export const clock = { ahead: 0 };

/** unwrap waits for a call and returns its data. It throws a Problem for an error reply. */
export async function unwrap<T>(call: Promise<Reply<T>>): Promise<T> {
	let reply: Reply<T>;
	try {
		reply = await call;
	} catch (error) {
		if (error instanceof DOMException && error.name === 'AbortError') {
			throw error;
		}
		throw new Problem(0, undefined);
	}
	const at = Date.parse(reply.response.headers.get('Date') ?? '');
	if (!Number.isNaN(at)) {
		clock.ahead = Date.now() - at;
	}
	if (!reply.response.ok) {
		const wait = Number(reply.response.headers.get('Retry-After'));
		throw new Problem(reply.response.status, reply.error, wait > 0 ? wait : undefined);
	}
	return reply.data as T;
}
