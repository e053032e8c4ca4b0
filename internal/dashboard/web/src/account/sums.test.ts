import { expect, test } from 'vitest';
import { byDay, sums } from './sums';

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

test('a day without calls is a row of zeros between its neighbours', () => {
	expect(byDay(days)).toEqual([
		{ date: '2026-11-19', calls: 12, failed: 1, counted: 11 },
		{ date: '2026-11-20', calls: 0, failed: 0, counted: 0 },
		{ date: '2026-11-21', calls: 30, failed: 3, counted: 27 },
	]);
	expect(byDay([])).toEqual([]);
});
