import { expect, test } from 'vitest';
import { byDay, difference, forecast, periodOf, sums, sumsByKey, totalOf, withoutKey } from './sums';

const days = [
	{ date: '2026-11-19', operation: 'GET /v1/aqi', calls: 10, failed: 1, counted: 9 },
	{ date: '2026-11-19', operation: 'GET /v1/cities', calls: 2, failed: 0, counted: 2 },
	{ date: '2026-11-21', operation: 'GET /v1/cities', calls: 30, failed: 3, counted: 27 },
];

test('operations are added up, the most used first', () => {
	expect(sums(days)).toEqual([
		{ operation: 'GET /v1/cities', calls: 32, failed: 3, counted: 29 },
		{ operation: 'GET /v1/aqi', calls: 10, failed: 1, counted: 9 },
	]);
});

test('keys are added up, the most used first', () => {
	const keyed = days.map((day, i) => ({ ...day, key_id: i === 1 ? 'key_b' : 'key_a' }));
	expect(sumsByKey(keyed)).toEqual([
		{ key: 'key_a', calls: 40, failed: 4, counted: 36 },
		{ key: 'key_b', calls: 2, failed: 0, counted: 2 },
	]);
});

test('a total without a part of it is the rest, which is not negative', () => {
	expect(totalOf(days)).toEqual({ calls: 42, failed: 4, counted: 38 });
	expect(difference(totalOf(days), { calls: 40, failed: 5, counted: 38 })).toEqual({ calls: 2, failed: 0, counted: 0 });
});

test('calls without a key remain beside more calls of the second reply', () => {
	const aqi = { date: '2026-11-19', operation: 'GET /v1/aqi' };
	const cities = { ...aqi, operation: 'GET /v1/cities' };
	const all = [
		{ ...aqi, calls: 50, failed: 2, counted: 48 },
		{ ...cities, calls: 5, failed: 1, counted: 4 },
	];
	const byKey = [
		{ ...aqi, key_id: 'key_a', calls: 40, failed: 2, counted: 38 },
		{ ...aqi, key_id: 'key_b', calls: 15, failed: 0, counted: 15 },
		{ ...cities, key_id: 'key_a', calls: 2, failed: 1, counted: 1 },
	];
	expect(withoutKey(all, byKey)).toEqual([{ ...cities, calls: 3, failed: 0, counted: 3 }]);
	expect(withoutKey(all, [])).toEqual(all);
});

test('the days are those of the period, and a day without calls has zeros', () => {
	expect(byDay(days, '2026-11-18', '2026-11-21')).toEqual([
		{ date: '2026-11-18', calls: 0, failed: 0, counted: 0 },
		{ date: '2026-11-19', calls: 12, failed: 1, counted: 11 },
		{ date: '2026-11-20', calls: 0, failed: 0, counted: 0 },
		{ date: '2026-11-21', calls: 30, failed: 3, counted: 27 },
	]);
	expect(byDay(days, '2026-11-20', '2026-11-20').map(({ date }) => date)).toEqual(['2026-11-19', '2026-11-20', '2026-11-21']);
});

test('a period is a month up to today in UTC, unless it has days of its own', () => {
	const now = new Date('2026-11-23T20:00:00Z');
	expect(periodOf({}, now)).toEqual({ from: '2026-11-01', to: '2026-11-23' });
	expect(periodOf({ to: '2026-10-05' }, now)).toEqual({ from: '2026-10-01', to: '2026-10-05' });
	expect(periodOf({ from: '2026-09-09' }, now)).toEqual({ from: '2026-09-09', to: '2026-11-23' });
});

test('the forecast of a month continues its mean rate, from its second day on', () => {
	const quota = { period: '2026-11', used: 300, resets_at: '2026-12-01T00:00:00Z' };
	expect(forecast(quota, new Date('2026-11-11T00:00:00Z'))).toBe(900);
	expect(forecast(quota, new Date('2026-12-01T00:00:00Z'))).toBe(300);
	expect(forecast(quota, new Date('2026-11-01T23:00:00Z'))).toBeUndefined();
	expect(forecast(quota, new Date('2026-12-02T00:00:00Z'))).toBeUndefined();
});
