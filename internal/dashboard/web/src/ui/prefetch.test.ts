// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { prefetch } from './prefetch';

beforeEach(() => {
	vi.useFakeTimers();
});
afterEach(() => {
	vi.useRealTimers();
	vi.unstubAllGlobals();
});

const idle = () => false;

test('loads run one after the other', async () => {
	const done: string[] = [];
	let release = () => {};
	const first = () => new Promise<void>((resolve) => (release = resolve)).then(() => done.push('first'));
	prefetch([first, async () => done.push('second')], idle);
	await vi.advanceTimersByTimeAsync(1_000);
	expect(done).toEqual([]);
	release();
	await vi.advanceTimersByTimeAsync(1_000);
	expect(done).toEqual(['first', 'second']);
});

test('it waits while the page is busy', async () => {
	const load = vi.fn(async () => {});
	let busy = true;
	prefetch([load], () => busy);
	await vi.advanceTimersByTimeAsync(10_000);
	expect(load).not.toHaveBeenCalled();
	busy = false;
	await vi.advanceTimersByTimeAsync(1_000);
	expect(load).toHaveBeenCalledOnce();
});

test('a failure ends it', async () => {
	const later = vi.fn(async () => {});
	prefetch([() => Promise.reject(new TypeError('Failed to fetch')), later], idle);
	await vi.advanceTimersByTimeAsync(1_000);
	expect(later).not.toHaveBeenCalled();
});

test('it stops, and it does nothing for a browser that saves data', async () => {
	const load = vi.fn(async () => {});
	prefetch([load], idle)();
	await vi.advanceTimersByTimeAsync(1_000);
	vi.stubGlobal('navigator', { connection: { saveData: true } });
	prefetch([load], idle);
	await vi.advanceTimersByTimeAsync(1_000);
	expect(load).not.toHaveBeenCalled();
});
