import { beforeEach, expect, test, vi } from 'vitest';
import { api } from '../../api/client';
import { type Balance, balanced, before, beginningOf, csvOf, type Entry } from './statement';

const entry = (n: number, available: number, held: number): Entry => ({
	...{ subject: `txn_${n}`, kind: 'reserve', available, held },
	at: new Date(Date.UTC(2026, 10, n)).toISOString(),
});

// Newest first, as the API returns them: 500 paid in, 199.10 reserved and charged.
const all = [entry(3, 0, -199.1), entry(2, -199.1, 199.1), entry(1, 500, 0)];
let wallet: Balance[];

beforeEach(() => {
	vi.restoreAllMocks();
	wallet = [{ available: 300.9, held: 0 }];
	vi.spyOn(api, 'GET').mockImplementation((async (path: string, options: { params: { query: { from?: string; to?: string } } }) => {
		if (path === '/v1/wallet') {
			return { data: wallet.length > 1 ? wallet.shift() : wallet[0], response: Response.json({}) };
		}
		const { from, to } = options.params.query;
		const data = all.filter(({ at }) => (!from || at >= from) && (!to || at < to));
		return { data: { data, has_more: false, next_cursor: null }, response: Response.json({}) };
	}) as unknown as typeof api.GET);
});

const signal = new AbortController().signal;

test('each line has the balance after its entry, without errors of rounding', () => {
	expect(balanced({ available: 300.9, held: 0 }, all).map(({ after }) => after)).toEqual([
		{ available: 300.9, held: 0 },
		{ available: 300.9, held: 199.1 },
		{ available: 500, held: 0 },
	]);
	expect(before({ available: 300.9, held: 0 }, all)).toEqual({ available: 0, held: 0 });
	expect(balanced(undefined, all).every(({ after }) => after === undefined)).toBe(true);
});

test('a statement that ends in the past begins with the balance of that time', async () => {
	const { page, closing } = await beginningOf({ to: new Date(Date.UTC(2026, 10, 3)).toISOString() }, 50, signal);
	expect(page.data).toHaveLength(2);
	expect(closing).toEqual({ available: 300.9, held: 199.1 });
});

test('an entry that arrives in between is fetched again', async () => {
	wallet = [
		{ available: 500, held: 0 },
		{ available: 300.9, held: 0 },
	];
	expect((await beginningOf({}, 50, signal)).closing).toEqual({ available: 300.9, held: 0 });
});

test('a wallet that never rests, and the entries of one subject, have no balances', async () => {
	wallet = Array.from({ length: 9 }, (_, i) => ({ available: i, held: 0 }));
	expect((await beginningOf({}, 50, signal)).closing).toBeUndefined();
	wallet = [{ available: 300.9, held: 0 }];
	expect((await beginningOf({ subject: 'txn_1' }, 50, signal)).closing).toBeUndefined();
});

test('sums of many entries are fetched once, and the balance before them stays', async () => {
	const requested: boolean[] = [];
	const entries = [entry(3, 0, -199.1)];
	vi.spyOn(api, 'GET').mockImplementation((async (path: string, options: { params: { query: { totals?: boolean } } }) => {
		if (path === '/v1/wallet') {
			return { data: wallet[0], response: Response.json({}) };
		}
		const { totals = false } = options.params.query;
		requested.push(totals);
		const sums = { totals: { complete: true, count: 6000, available: 100, held: 0 } };
		return { data: { data: entries, has_more: true, next_cursor: 'more', ...(totals && sums) }, response: Response.json({}) };
	}) as unknown as typeof api.GET);
	const selection = { from: '2026-11-01T00:00:00Z' };
	expect((await beginningOf(selection, 50, signal)).totals).toEqual({
		count: 6000,
		complete: true,
		opening: { available: 200.9, held: 0 },
	});
	wallet = [{ available: 250.9, held: 0 }];
	const next = await beginningOf(selection, 50, signal);
	expect(next.totals?.opening).toEqual({ available: 200.9, held: 0 });
	expect(next.closing).toEqual({ available: 250.9, held: 0 });
	expect(requested).toEqual([true, false]);
});

test('a saved statement has a row for each entry', () => {
	expect(csvOf(balanced({ available: 500, held: 0 }, [entry(1, 500, 0)]))).toBe(
		'at,kind,subject,available,held,available_after,held_after\r\n2026-11-01T00:00:00.000Z,reserve,txn_1,500,0,500,0\r\n',
	);
});
