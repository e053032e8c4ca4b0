import { expect, test } from 'vitest';
import { halves, months, step, weeks } from './days';

test('weeks run from Monday to Sunday and contain only days of the range', () => {
	// 2026-11-18 is a Wednesday.
	expect(weeks('2026-11-18', '2026-11-24')).toEqual([
		[undefined, undefined, '2026-11-18', '2026-11-19', '2026-11-20', '2026-11-21', '2026-11-22'],
		['2026-11-23', '2026-11-24', undefined, undefined, undefined, undefined, undefined],
	]);
});

test('a year contains each of its days once', () => {
	const days = weeks('2025-11-23', '2026-11-22')
		.flat()
		.filter((date) => date !== undefined);
	expect(days).toHaveLength(365);
	expect(new Set(days).size).toBe(365);
	expect([days[0], days.at(-1)]).toEqual(['2025-11-23', '2026-11-22']);
});

test('a leap day is included', () => {
	expect(weeks('2028-02-28', '2028-03-05')).toEqual([
		['2028-02-28', '2028-02-29', '2028-03-01', '2028-03-02', '2028-03-03', '2028-03-04', '2028-03-05'],
	]);
});

test('months cover all weeks', () => {
	const of = weeks('2025-11-23', '2026-11-22');
	const found = months(of);
	expect(found.reduce((sum, month) => sum + month.weeks, 0)).toBe(of.length);
	expect(found[0]?.date.slice(0, 7)).toBe('2025-11');
	expect(found.at(-1)?.date.slice(0, 7)).toBe('2026-11');
});

test('the name of a month is above the week with its first day', () => {
	// 2026-06-01 is a Monday, and 2026-10-01 a Thursday.
	const found = months(weeks('2026-05-25', '2026-10-11'));
	expect(found.map(({ date, weeks }) => `${date.slice(0, 7)} ${weeks}`)).toEqual([
		'2026-05 1',
		'2026-06 4',
		'2026-07 4',
		'2026-08 5',
		'2026-09 4',
		'2026-10 2',
	]);
});

test('halves begin with a month, if both have room', () => {
	const year = weeks('2025-12-01', '2026-11-30');
	const [first, second] = halves(year, 30);
	expect(first.length + second.length).toBe(year.length);
	expect(second[0]?.[0]).toBe('2026-06-01');
	expect(halves(year, 27).map((part) => part.length)).toEqual([26, 27]);
	// Weeks without a month's start near the middle are divided there.
	expect(halves(weeks('2026-06-08', '2026-06-28'), 2).map((part) => part.length)).toEqual([2, 1]);
});

test.each([
	['ArrowUp', '2026-11-17'],
	['ArrowDown', '2026-11-19'],
	['ArrowLeft', '2026-11-11'],
	['ArrowRight', '2026-11-20'],
	['Home', '2026-11-01'],
	['End', '2026-11-20'],
	['PageUp', '2026-11-01'],
	['x', undefined],
])('%s moves to %s', (key, to) => {
	expect(step(key, '2026-11-18', '2026-11-01', '2026-11-20')).toBe(to);
});
