import type { components, paths } from './made/schema.js';

// The types of calls and replies, computed from the generated types of the contract.

export type Schemas = components['schemas'];
export type Method = 'get' | 'put' | 'post' | 'patch' | 'delete';

/** The paths of the contract that have a method. */
export type PathWith<M extends Method> = {
	[P in keyof paths]: paths[P] extends { [K in M]: { responses: unknown } } ? P : never;
}[keyof paths];

export type Operation<P extends keyof paths, M extends Method> = paths[P][M];

type Query<O> = O extends { parameters: { query: infer Q } }
	? { query: Q }
	: O extends { parameters: { query?: infer Q } }
		? { query?: NonNullable<Q> }
		: unknown;
type Path<O> = O extends { parameters: { path: infer V } } ? { path: V } : unknown;
type Body<O> = O extends { requestBody: { content: { 'application/json': infer B } } }
	? { body: B }
	: O extends { requestBody?: { content: { 'application/json': infer B } } }
		? { body?: B }
		: unknown;

export interface CallOptions {
	/** Aborts the call, its waits and its retries. */
	signal?: AbortSignal;
	/** Limit of one attempt in milliseconds; the default is that of the client. */
	timeout?: number;
	/** Makes a POST idempotent. Without it the client chooses a random one for each call. */
	idempotencyKey?: string;
	/** Further headers, such as `Prefer` or `If-None-Match`. */
	headers?: Record<string, string>;
}

export type Call<O> = CallOptions & Query<O> & Path<O> & Body<O>;

/** The arguments after the path. They can be absent if no parameter is required. */
export type Arguments<O> = Record<never, never> extends Call<O> ? [call?: Call<O>] : [call: Call<O>];

type Json<R> = R extends { content: { 'application/json': infer T } } ? T : never;

/** The JSON of a successful reply. */
export type Reply<O> = O extends { responses: infer R } ? Json<R[Extract<keyof R, 200 | 201 | 202>]> : never;

/** The paths whose replies are pages with a cursor. */
export type ListPath = {
	[P in PathWith<'get'>]: Reply<Operation<P, 'get'>> extends { next_cursor: unknown; has_more: boolean } ? P : never;
}[PathWith<'get'>];

/** One entry of a page. */
export type Entry<T> = T extends { data: readonly (infer E)[] } ? E : T extends { results: readonly (infer E)[] } ? E : never;

/** A message of `GET /v1/live`, with its data parsed. */
export type LiveMessage =
	| Schemas['LiveHello']
	| Schemas['LiveDelivery']
	| Schemas['LiveEvent']
	| Schemas['LiveBatch']
	| Schemas['LiveAir']
	| Schemas['LiveReset'];
