import { QueryClient, QueryObserver } from '@tanstack/preact-query';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { clock } from './client';
import { connectLiveStream, isConnected, isLost, liveQuery, type Notice, onNotice, Refresher } from './liveStream';
import { queries } from './queries';

beforeEach(() => {
	vi.useFakeTimers();
});
afterEach(() => {
	vi.useRealTimers();
});

/** watched observes a query and counts its fetches. */
function watched(client: QueryClient, first: string, takes: number, own: Partial<typeof liveQuery> = {}): { times: () => number } {
	let times = 0;
	const options = {
		queryKey: [first],
		queryFn: () =>
			new Promise((done) => {
				times++;
				setTimeout(() => done(times), takes);
			}),
		...own,
	};
	new QueryObserver(client, options).subscribe(() => {});
	return { times: () => times };
}

test('many notices cause one fetch a second, and only of the invalidated queries', async () => {
	const client = new QueryClient();
	const [deliveries, own, air] = [watched(client, 'deliveries', 10), watched(client, 'health', 10, liveQuery), watched(client, 'air', 10)];
	await vi.advanceTimersByTimeAsync(100);
	const refresher = new Refresher(client);
	for (let i = 0; i < 500; i++) {
		refresher.add({ kind: 'delivery', data: { id: `dlv_${i}` } });
		await vi.advanceTimersByTimeAsync(10);
	}
	await vi.advanceTimersByTimeAsync(2000);
	expect(deliveries.times()).toBeLessThanOrEqual(7);
	expect(deliveries.times()).toBeGreaterThanOrEqual(5);
	expect(own.times()).toBe(1);
	expect(air.times()).toBe(1);
	refresher.stop();
});

test('a fetch that takes longer than the interval of notices completes, and another follows', async () => {
	const client = new QueryClient();
	const slow = watched(client, 'deliveries', 3000);
	await vi.advanceTimersByTimeAsync(100);
	const refresher = new Refresher(client);
	refresher.add({ kind: 'delivery', data: {} });
	await vi.advanceTimersByTimeAsync(2500);
	expect(slow.times()).toBe(1);
	await vi.advanceTimersByTimeAsync(2000);
	expect(slow.times()).toBe(2);
	refresher.stop();
});

test('a reset invalidates the kinds that it names', async () => {
	const client = new QueryClient();
	const [deliveries, air] = [watched(client, 'deliveries', 1), watched(client, 'air', 1)];
	await vi.advanceTimersByTimeAsync(100);
	const refresher = new Refresher(client);
	refresher.add({ kind: 'reset', data: { kinds: ['delivery'] } });
	await vi.advanceTimersByTimeAsync(2000);
	expect([deliveries.times(), air.times()]).toEqual([2, 1]);
	refresher.stop();
});

test('a notice about air that a query already has does not fetch it again', async () => {
	const client = new QueryClient();
	const refresher = new Refresher(client);
	// The clock of the computer is an hour fast.
	clock.ahead = 3_600_000;
	const built = (minutes: number) => new Date(Date.now() - clock.ahead + minutes * 60_000).toISOString();
	const first = { kind: 'air', data: { built: built(-1) } };
	const air = watched(client, 'air', 10);
	refresher.add(first);
	await vi.advanceTimersByTimeAsync(2000);
	expect(air.times()).toBe(1);
	await vi.advanceTimersByTimeAsync(60_000);
	refresher.add({ kind: 'air', data: { built: built(0) } });
	await vi.advanceTimersByTimeAsync(2000);
	expect(air.times()).toBe(2);
	refresher.add({ kind: 'reset', data: {} });
	await vi.advanceTimersByTimeAsync(2000);
	expect(air.times()).toBe(3);
	refresher.stop();
	clock.ahead = 0;
});

test('a rejected stream is opened again, and then everything is invalidated', async () => {
	const made: FakeSource[] = [];
	class FakeSource {
		static readonly CLOSED = 2;
		readyState = 0;
		onopen = () => {};
		onerror = () => {};
		constructor() {
			made.push(this);
		}
		addEventListener() {}
		close() {}
	}
	vi.stubGlobal('EventSource', FakeSource);
	const received: Notice[] = [];
	const unlisten = onNotice((notice) => received.push(notice));
	const stop = connectLiveStream();
	made[0]?.onopen();
	expect(isConnected.value).toBe(true);
	// The browser itself reconnects after a connection breaks.
	made[0]?.onerror();
	await vi.advanceTimersByTimeAsync(60_000);
	expect([made.length, isConnected.value, isLost.value]).toEqual([1, false, true]);
	let fetches = 0;
	const failed = new QueryObserver(queries, {
		queryKey: ['webhooks'],
		retry: false,
		queryFn: () => (++fetches === 1 ? Promise.reject(new Error('offline')) : Promise.resolve('answered')),
	});
	const unwatch = failed.subscribe(() => {});
	await vi.advanceTimersByTimeAsync(100);
	expect(failed.getCurrentResult().status).toBe('error');
	Object.assign(made[0] ?? {}, { readyState: 2 });
	made[0]?.onerror();
	await vi.advanceTimersByTimeAsync(60_000);
	expect(made.length).toBe(2);
	made[1]?.onopen();
	expect(received).toEqual([{ kind: 'reset', data: {} }]);
	await vi.advanceTimersByTimeAsync(100);
	expect(failed.getCurrentResult().data).toBe('answered');
	expect(isLost.value).toBe(false);
	unwatch();
	stop();
	unlisten();
	vi.unstubAllGlobals();
});

test('a self-updating query is fetched when it is mounted, because it missed earlier notices', async () => {
	const client = new QueryClient({ defaultOptions: { queries: { staleTime: 60_000 } } });
	const first = watched(client, 'health', 10, liveQuery);
	await vi.advanceTimersByTimeAsync(100);
	const second = watched(client, 'health', 10, liveQuery);
	await vi.advanceTimersByTimeAsync(100);
	expect(first.times() + second.times()).toBe(2);
});

test('a self-updating query is fetched when a filter returns to it', async () => {
	const client = new QueryClient({ defaultOptions: { queries: { staleTime: 60_000 } } });
	const fetched: string[] = [];
	const list = (filter: string) => ({
		queryKey: ['deliveries', filter],
		queryFn: () => fetched.push(filter),
		...liveQuery,
	});
	const observer = new QueryObserver(client, list('failed'));
	observer.subscribe(() => {});
	for (const filter of ['all', 'failed']) {
		await vi.advanceTimersByTimeAsync(100);
		observer.setOptions(list(filter));
	}
	await vi.advanceTimersByTimeAsync(100);
	expect(fetched).toEqual(['failed', 'all', 'failed']);
});
