import createClient from 'openapi-fetch';
import type { components, paths } from '../../made/schema';

/** The objects of the contract, by the names that openapi.yaml gives them. */
export type Schemas = components['schemas'];

/**
 * api calls the public API with the browser's session. Its paths, parameters and
 * replies are those of openapi.yaml: whatever the page shows, anyone can fetch.
 */
// The store of queries decides how old a reply may be, and the live stream when it is: the
// browser's own store must ask each time, or a notice would be answered with what was.
export const api = createClient<paths, 'application/json'>({ baseUrl: '/dashboard', cache: 'no-cache' });

/** withKey calls the public API with a key of its own, to exchange it for a session. */
export const withKey = createClient<paths, 'application/json'>({ baseUrl: '/' });

/** Problem is a refusal of the API, or of the way to it. */
export class Problem extends Error {
	/** status is that of the reply; 0 when there was none. */
	readonly status: number;
	/** code is one of the contract's; offline when no reply came. */
	readonly code: string;
	/** field names what is wrong with the request; undefined when no field is. */
	readonly field: string | undefined;
	readonly details: readonly { field?: string; code?: string; message: string }[];
	/** choices are the places that a name may stand for, or names like one that is not known. */
	readonly choices: readonly string[];
	readonly request: string | undefined;
	/** retryAfter is how many seconds to wait before the same call may succeed. */
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

	/** atField is a refusal by the page itself, at a field of a form. */
	static atField(field: string, message: string): Problem {
		return new Problem(422, { error: { code: 'invalid_request', field, message } });
	}

	/** messageOf is what is wrong with a field of the request, or with a part of it: events.2 is of events. */
	messageOf(field: string): string | undefined {
		const about = (named: string | undefined) => named === field || named?.startsWith(`${field}.`);
		const detail = this.details.find((detail) => about(detail.field));
		return detail?.message ?? (about(this.field) ? this.message : undefined);
	}

	/** passing says that the same call may succeed later. */
	get passing(): boolean {
		return this.status === 0 || this.status === 429 || this.status >= 500;
	}
}

/** problemOf is what was thrown as a Problem; what is none was thrown on the way, where no reply came. */
export function problemOf(error: unknown): Problem {
	return error instanceof Problem ? error : new Problem(0, undefined);
}

/** Reply is what a call of the API comes to. */
export type Reply<T> = { data?: T; error?: unknown; response: Response };

/** unwrap waits for a call and returns what it answers; a refusal is thrown as a Problem. */
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
	if (!reply.response.ok) {
		const wait = Number(reply.response.headers.get('Retry-After'));
		throw new Problem(reply.response.status, reply.error, wait > 0 ? wait : undefined);
	}
	return reply.data as T;
}
