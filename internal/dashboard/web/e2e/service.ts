import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { type Certificate, certificate } from './certificate';

const root = resolve(import.meta.dirname, '../../../..');

/** Service is a running bin/vayu with an empty store and the keys that its bootstrap printed. */
export interface Service {
	base: string;
	live: string;
	sandbox: string;
	/** data is its data directory. */
	data: string;
	/** stop ends the process and removes its data. */
	stop: () => Promise<void>;
}

/** start runs bin/vayu with a new data directory on a free port, and waits until it serves air quality. */
export async function start(...args: string[]): Promise<Service> {
	const data = await mkdtemp(join(tmpdir(), 'vayu-browser-'));
	const child = spawn(join(root, 'bin/vayu'), ['serve', '--data', data, '--listen', '127.0.0.1:0', '--webhook-local', ...args], {
		cwd: root,
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	let output = '';
	const ended = new Promise<number | null>((done) => child.once('exit', done));
	const stop = async () => {
		child.kill('SIGTERM');
		await ended;
		await rm(data, { recursive: true, force: true });
	};
	const ready = new Promise<Omit<Service, 'data' | 'stop'>>((done) => {
		const hear = (chunk: Buffer) => {
			output += chunk.toString();
			const base = /answers on (http:\/\/127\.0\.0\.1:\d+)/.exec(output)?.[1];
			const live = /sk_live_\w{39}/.exec(output)?.[0];
			const sandbox = /sk_test_\w{39}/.exec(output)?.[0];
			if (base && live && sandbox && output.includes('/v1/aqi')) {
				done({ base, live, sandbox });
			}
		};
		child.stdout.on('data', hear);
		child.stderr.on('data', hear);
	});
	const first = await Promise.race([ready, ended]);
	if (first === null || typeof first === 'number') {
		throw new Error(`bin/vayu ended with ${first}:\n${output}`);
	}
	return { ...first, data, stop };
}

/** command runs bin/vayu on the data directory of a running service, and returns its output. */
export async function command(data: string, ...args: string[]): Promise<string> {
	const { stdout } = await promisify(execFile)(join(root, 'bin/vayu'), [...args, '--data', data], { cwd: root });
	return stdout;
}

declare module 'vitest' {
	interface ProvidedContext {
		base: string;
		live: string;
		sandbox: string;
		data: string;
		/** certificate is the certificate of the receivers; the service trusts it. */
		certificate: Certificate;
	}
}

/** account creates an account with a sandbox key, and returns the key. called is the name of the key. */
export async function account(data: string, name: string, called = 'tests'): Promise<string> {
	const key = ['key', 'create', '--account', name, '--plan', 'unlimited', '--mode', 'sandbox', '--name', called, '--quiet'];
	return (await command(data, ...key)).trim();
}

/** indianYesterday is the last complete Indian day, in SQL. */
export const indianYesterday = 'toDate(now() + 19800) - 1';

/**
 * issueRecorded records that the forecasts of the sandbox were issued two hours from now. The job of the service, which looks
 * every five minutes, then issues none before the tests end.
 */
export async function issueRecorded(data: string): Promise<void> {
	await command(
		data,
		...['sql', '--mode', 'sandbox', '--write'],
		`INSERT INTO forecast_issue (run, base, issued_at, fitted_at, forecasts) VALUES ('', ${indianYesterday}, now() + 7200, now() - 3600, 1)`,
	);
}

/** setup starts one service for all tests. It issues no forecasts itself. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
	const folder = await mkdtemp(join(tmpdir(), 'vayu-receiver-'));
	const trusted = await certificate(folder);
	const service = await start('--webhook-ca', trusted.file, '--public', 'sandbox');
	await issueRecorded(service.data);
	project.provide('certificate', trusted);
	project.provide('base', service.base);
	project.provide('live', service.live);
	project.provide('sandbox', service.sandbox);
	project.provide('data', service.data);
	return async () => {
		await service.stop();
		await rm(folder, { recursive: true, force: true });
	};
}
