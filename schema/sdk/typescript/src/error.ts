import type { Schemas } from './contract.js';

/** The base of all errors of this package. */
export class VayuError extends Error {
	override name = 'VayuError';
}

/** No complete reply arrived. `cause` has the error of the platform. */
export class ConnectionError extends VayuError {
	override name = 'ConnectionError';
}

/** An attempt took longer than its timeout. */
export class TimeoutError extends ConnectionError {
	override name = 'TimeoutError';
}

/** A webhook whose signature is invalid or too old. Reply 400 and discard it. */
export class SignatureError extends VayuError {
	override name = 'SignatureError';
}

/** The service replied with a problem of the contract. Branch on `code`; messages can change. */
export class ProblemError extends VayuError {
	override name = 'ProblemError';
	/** HTTP status. */
	readonly status: number;
	/** Stable code, such as `location_not_found`. It is `unexpected_reply` if the reply has no problem, as from a proxy. */
	readonly code: string;
	/** Parameter or JSON field that caused the error. */
	readonly field: string | undefined;
	/** All errors of the request, if there are several. */
	readonly details: readonly Schemas['ProblemDetail'][];
	readonly suggestions: readonly string[];
	readonly candidates: readonly string[];
	/** Id of the request; include it in support requests. */
	readonly requestId: string | undefined;
	readonly retryable: boolean;
	/** Seconds of the header `Retry-After`. */
	readonly retryAfter: number | undefined;
	/** The whole reply. That of a failed recharge has the transaction. */
	readonly body: unknown;

	constructor(status: number, headers: Headers, text: string) {
		const body = parse(text);
		const problem = (body as { error?: Partial<Schemas['Problem']> } | undefined)?.error;
		super(problem?.message ?? `The reply has status ${status} and no problem of the contract.`);
		this.status = status;
		this.body = body ?? text;
		this.code = problem?.code ?? 'unexpected_reply';
		this.field = problem?.field;
		this.details = problem?.details ?? [];
		this.suggestions = problem?.suggestions ?? [];
		this.candidates = problem?.candidates ?? [];
		this.requestId = problem?.request_id ?? headers.get('X-Request-Id') ?? undefined;
		// A transaction that has failed stays failed, so a repeated request has the same reply.
		const failed = (body as { status?: unknown } | undefined)?.status === 'failed';
		this.retryable = !failed && (problem?.retryable ?? [429, 502, 503, 504].includes(status));
		const seconds = Number.parseInt(headers.get('Retry-After') ?? '', 10);
		this.retryAfter = Number.isNaN(seconds) ? undefined : seconds;
	}
}

function parse(text: string): object | undefined {
	try {
		const value: unknown = JSON.parse(text);
		return typeof value === 'object' && value !== null ? value : undefined;
	} catch {
		return undefined;
	}
}
