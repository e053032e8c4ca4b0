import { expect, test } from 'vitest';
import { capture, courseOf, judged, limitsOf, type Statistic } from './statistics';

const coverage = (hours: number, expected_hours = 365) => ({ hours, expected_hours, capture: hours / expected_hours, complete: false });

test('a course is the mean of the stations, weighted by their hours', () => {
	const rows: Statistic[] = [
		{ parameter: 'pm25', hour: 1, mean: 100, coverage: coverage(30) },
		{ parameter: 'pm25', hour: 0, mean: 50, coverage: coverage(10) },
		{ parameter: 'pm25', hour: 1, mean: 40, coverage: coverage(10) },
		{ parameter: 'pm25', hour: 2, mean: null, coverage: coverage(24) },
	];
	expect(courseOf(rows)).toEqual([
		{ at: 0, mean: 50, hours: 10 },
		{ at: 1, mean: 85, hours: 40 },
	]);
	expect(capture(rows)).toBeCloseTo(74 / 1460);
	expect(capture([])).toBe(0);
});

test('limits are in the order of their standards and times, and each station has its row of each', () => {
	const row = (station: string, standard: 'naaqs_2009' | 'who_2021', period: '24h' | 'year', value: number): Statistic => ({
		...{ parameter: 'pm25', station, name: `Station ${station}`, standard, period, value, coverage: coverage(100) },
	});
	const rows = [
		row('a', 'who_2021', '24h', 15),
		row('a', 'naaqs_2009', 'year', 40),
		row('a', 'naaqs_2009', '24h', 60),
		row('b', 'who_2021', '24h', 15),
	];
	expect(limitsOf(rows).map(({ id }) => id)).toEqual(['naaqs_2009 24h', 'naaqs_2009 year', 'who_2021 24h']);
	const [a, b] = judged(rows);
	expect([a?.name, a?.rows.get('naaqs_2009 24h')?.value, b?.rows.get('naaqs_2009 24h')]).toEqual(['Station a', 60, undefined]);
});
