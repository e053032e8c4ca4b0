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
	vi.setSystemTime(Date.now() + 61_000);
	expect(await withTotals(['another'], page)).toEqual({ totals: { count: 7000 } });
	expect(requested.splice(0)).toEqual([true, true]);
});
