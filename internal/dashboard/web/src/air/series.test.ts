import { expect, test } from 'vitest';
import { apart, type Entry, framed, joined, line, recent, spanOf, stepOf, windows } from './series';

function entry(values: Partial<Entry>): Entry {
	return {
		status: 'success',
		city: 'Delhi',
		aqi: 100,
		category: 'Satisfactory',
		pm25: 60,
		pm10: 80,
		no2: 20,
		so2: 8,
		co: 1.02,
		o3: null,
		dominant: 'PM2.5',
		updated: '2026-11-20T00:30:00Z',
		...values,
	};
}

const at = (hour: number) => `2026-11-20T${String(hour).padStart(2, '0')}:30:00Z`;
const x = (hour: number) => Date.parse(at(hour)) / 1000;

test('missing hours are a gap, and figures equal those of the API', () => {
	const entries = [1, 2, 5].map((hour) => entry({ updated: at(hour), co: hour + 0.01 }));
	expect(line(entries, 'co', 'hour')).toEqual({ xs: [x(1), x(2), x(3), x(5)], ys: [1.01, 2.01, null, 5.01] });
});

test('a missing measurement is a gap', () => {
	expect(line([entry({})], 'o3', 'hour').ys).toEqual([null]);
});

test('entries can come in any order and repeatedly', () => {
	const entries = [2, 1, 2].map((hour) => entry({ updated: at(hour), aqi: hour }));
	expect(line(entries, 'aqi', 'hour').ys).toEqual([1, 2]);
});

test('a day is drawn at midnight in India', () => {
	const entries = ['2026-11-18', '2026-11-19', '2026-11-21'].map((date) => entry({ date }));
	const { xs, ys } = line(entries, 'aqi', 'day');
	expect(xs.map((one) => new Date(one * 1000).toISOString())).toEqual([
		'2026-11-17T18:30:00.000Z',
		'2026-11-18T18:30:00.000Z',
		'2026-11-19T18:30:00.000Z',
		'2026-11-20T18:30:00.000Z',
	]);
	expect(ys).toEqual([100, 100, null, 100]);
});

test('lines on one axis keep only their own gaps', () => {
	expect(
		joined([
			{ xs: [1, 2, 4], ys: [10, null, 40] },
			{ xs: [1, 3], ys: [11, 33] },
		]),
	).toEqual([
		[1, 2, 3, 4],
		[10, null, undefined, 40],
		[11, undefined, 33, undefined],
	]);
	expect(joined([])).toEqual([[]]);
});

test('the last 24 hours are counted from the newest entry', () => {
	const entries = Array.from({ length: 30 }, (_, i) => entry({ updated: new Date(Date.UTC(2026, 10, 20, i)).toISOString() }));
	const last = recent(entries);
	expect(last).toHaveLength(24);
	expect(last[0]?.updated).toBe('2026-11-20T06:00:00.000Z');
});

test('a range is split into parts that one call may request', () => {
	expect(windows('2026-11-01', '2026-11-21', 31)).toEqual([{ from: '2026-11-01', to: '2026-11-21' }]);
	expect(windows('2026-10-20', '2026-11-21', 31)).toEqual([
		{ from: '2026-10-20', to: '2026-10-21' },
		{ from: '2026-10-22', to: '2026-11-21' },
	]);
	const year = windows('2025-11-22', '2026-11-21', 31);
	expect(year).toHaveLength(12);
	expect(year[0]?.from).toBe('2025-11-22');
});

test('invalid parameters of the address fall back to defaults', () => {
	expect(spanOf('99y')).toBe('24h');
	expect(stepOf('day', '24h', 2)).toBe('hour');
	expect(stepOf(undefined, '1y', 365)).toBe('day');
	expect(stepOf('hour', '1y', 365)).toBe('hour');
});

test('the axis is the period, also for one point and for none', () => {
	expect(framed({ xs: [5], ys: [100] }, 1, 9)).toEqual({ xs: [1, 5, 9], ys: [null, 100, null] });
	expect(framed({ xs: [], ys: [] }, 1, 9)).toEqual({ xs: [1, 9], ys: [null, null] });
	expect(framed({ xs: [1, 9], ys: [1, 2] }, 1, 9)).toEqual({ xs: [1, 9], ys: [1, 2] });
});

test('names that would overlap are moved apart, and none is below the plot', () => {
	expect(apart([10, 50, 55, 90], 14, 280)).toEqual([10, 50, 64, 90]);
	expect(apart([200, 270, 275, 280], 14, 280)).toEqual([200, 252, 266, 280]);
	expect(apart([], 14, 280)).toEqual([]);
});
