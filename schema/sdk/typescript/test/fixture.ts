import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { type Options, Vayu } from '../src/index.js';

export interface Received {
	method: string;
	url: string;
	headers: IncomingMessage['headers'];
	body: string;
}

export type Handler = (request: Received, reply: ServerResponse, count: number) => void;

/** Starts a server for one test. `count` of the handler is the number of earlier requests. */
export async function serve(handler: Handler): Promise<{ url: string; received: Received[] }> {
	const received: Received[] = [];
	const server = createServer(async (request, reply) => {
		let body = '';
		for await (const chunk of request) body += chunk;
		const entry = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body };
		received.push(entry);
		handler(entry, reply, received.length - 1);
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	onTestFinished(() => {
		server.closeAllConnections();
		server.close();
	});
	return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

/** A client whose waits end at once. `waits` has their milliseconds. */
export async function fixture(handler: Handler, options: Partial<Options> = {}) {
	const { url, received } = await serve(handler);
	const waits: number[] = [];
	const client = new Vayu({
		baseUrl: url,
		key: 'sk_test_1',
		sleep: async (milliseconds, signal) => {
			waits.push(milliseconds);
			signal?.throwIfAborted();
		},
		...options,
	});
	return { client, received, waits, url };
}

export function json(reply: ServerResponse, status: number, body: unknown, headers: Record<string, string | number> = {}): void {
	reply.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));
}

export function problem(
	reply: ServerResponse,
	status: number,
	code: string,
	more: object = {},
	headers: Record<string, string | number> = {},
): void {
	const retryable = status === 429 || status >= 502;
	const error = { code, message: 'It failed.', request_id: 'req_1', retryable, ...more };
	json(reply, status, { status: 'error', message: 'It failed.', error }, headers);
}

/** Returns the error of a promise that must fail. */
export async function failure(promise: Promise<unknown>): Promise<unknown> {
	return promise.then(
		(value) => Promise.reject(new Error(`no error, but ${JSON.stringify(value)}`)),
		(error: unknown) => error,
	);
}

export const record = { status: 'success', city: 'Delhi', aqi: 337 };
