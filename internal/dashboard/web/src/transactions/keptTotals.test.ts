import { afterEach, expect, test, vi } from 'vitest';
import { withTotals } from './keptTotals';

afterEach(() => {
	vi.useRealTimers();
});

test('totals of many rows are fetched once a minute, others with each page', async () => {
	vi.useFakeTimers();
	let count = 10;
	const requested: boolean[] = [];
	const page = async (totals: boolean) => {
		requested.push(totals);
		return totals ? { totals: { count } } : {};
	};
	await withTotals(['list'], page);
	await withTotals(['list'], page);
	expect(requested.splice(0)).toEqual([true, true]);
	count = 6000;
	await withTotals(['list'], page);
	count = 7000;
	expect(await withTotals(['list'], page)).toEqual({ totals: { count: 6000 } });
	expect(requested.splice(0)).toEqual([true, false]);
	expect(await withTotals(['another'], page)).toEqual({ totals: { count: 7000 } });
	expect(requested.splice(0)).toEqual([true]);
	vi.setSystemTime(Date.now() + 61_000);
	expect(await withTotals(['another'], page)).toEqual({ totals: { count: 7000 } });
	expect(requested.splice(0)).toEqual([true]);
});

test('the totals of the eight newest lists are kept', async () => {
	const requested: number[] = [];
	const list = (n: number) =>
		withTotals(['many lists', n], async (totals) => {
			if (totals) {
				requested.push(n);
			}
			return { totals: { count: 6000 } };
		});
	for (const n of [0, 1, 2, 3, 4, 5, 6, 7, 8]) {
		await list(n);
	}
	requested.splice(0);
	for (const n of [8, 7, 6, 5, 4, 3, 2, 1, 0]) {
		await list(n);
	}
	expect(requested).toEqual([0]);
});
