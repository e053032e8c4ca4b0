import { expect, test } from 'vitest';
import { begins, chosenOf, moved, type Ranked, rankedPath, sorted, sortOf, tableOf } from './ranking';

const now = new Date('2026-11-27T20:00:00Z'); // the 28th in India

test.each([
	[{}, { period: 'now', date: '', parameter: 'aqi', order: 'highest' }],
	[{ period: 'now', date: '2026-11-01' }, { date: '' }],
	[{ period: 'day' }, { date: '2026-11-27' }],
	[{ period: 'day', date: '2027-01-01' }, { date: '2026-11-28' }],
	[
		{ period: 'month', date: '2026-02-31x', of: 'pm25' },
		{ date: '2026-11-27', parameter: 'aqi' },
	],
	[
		{ period: 'year', date: '2020-05-05', of: 'nh3', order: 'lowest' },
		{ date: '2020-05-05', parameter: 'nh3', order: 'lowest' },
	],
	[
		{ period: 'decade', of: 'x', order: 'y' },
		{ period: 'now', parameter: 'aqi', order: 'highest' },
	],
])('the address %j selects %j', (filters, want) => {
	expect(chosenOf(filters, now)).toMatchObject(want);
});

test.each([
	['day', '2026-03-01', -1, '2026-02-28'],
	['month', '2026-03-31', -1, '2026-02-01'],
	['month', '2026-12-31', 1, '2027-01-01'],
	['year', '2024-02-29', 1, '2025-01-01'],
] as const)('a %s from %s by %i is that of %s', (period, date, by, want) => {
	expect(moved({ period, date }, by)).toBe(want);
});

test('a period begins on its first day', () => {
	expect(begins({ period: 'day', date: '2026-03-31' })).toBe('2026-03-31');
	expect(begins({ period: 'month', date: '2026-03-31' })).toBe('2026-03-01');
	expect(begins({ period: 'year', date: '2026-03-31' })).toBe('2026-01-01');
});

const row = (rank: number, city: string, stations: number, capture: number): Ranked => ({
	...{ rank, city, state: 'Goa', value: 100 - rank, category: 'Satisfactory', stations },
	coverage: { count: capture * 20, expected: 20, capture },
});
const rows = [row(1, 'Panaji', 2, 0.75), row(2, 'Margao', 3, 1), row(3, 'Vasco', 2, 1)];

test.each([
	[undefined, 'Panaji Margao Vasco'],
	['-rank', 'Vasco Margao Panaji'],
	['city', 'Margao Panaji Vasco'],
	['-city', 'Vasco Panaji Margao'],
	['-stations', 'Margao Panaji Vasco'],
	['-capture', 'Margao Vasco Panaji'],
	['capture', 'Panaji Margao Vasco'],
	['-nonsense', 'Vasco Margao Panaji'],
])('the order %s is %s', (text, want) => {
	expect(
		sorted(rows, sortOf(text), 'en')
			.map(({ city }) => city)
			.join(' '),
	).toBe(want);
});

test.each([
	[{ period: 'now', parameter: 'aqi' }, '/air/Aurangabad,%20Bihar'],
	[{ period: 'day', from: '2026-11-01', to: '2026-11-01', parameter: 'aqi' }, '/air/Aurangabad,%20Bihar?date=2026-11-01'],
	[
		{ period: 'year', from: '2025-01-01', to: '2025-12-31', parameter: 'pm25' },
		'/air/Aurangabad,%20Bihar?span=range&from=2025-01-01&to=2025-12-31&by=day&year=2025&of=pm25',
	],
	[
		{ period: 'year', from: '2025-01-01', to: '2025-12-31', parameter: 'pb' },
		'/air/Aurangabad,%20Bihar?span=range&from=2025-01-01&to=2025-12-31&by=day&year=2025',
	],
] as const)('a city of the ranking %j has the page %s', (ranking, want) => {
	expect(rankedPath('Aurangabad, Bihar', ranking)).toBe(want);
});

test('the file has a row for each city, with the coverage', () => {
	const ranking = { status: 'success', period: 'month', from: '2026-11-01', to: '2026-11-20', parameter: 'aqi', unit: '' } as const;
	const list = { counted: 'days', unranked: 0, data: rows, has_more: false, next_cursor: null } as const;
	expect(tableOf({ ...ranking, ...list }, [row(1, 'Panaji', 2, 0.75)])).toEqual([
		{
			...{ period: 'month', from: '2026-11-01', to: '2026-11-20', parameter: 'aqi', unit: '', rank: 1, city: 'Panaji', state: 'Goa' },
			...{ value: 99, category: 'Satisfactory', stations: 2, counted: 'days', count: 15, expected: 20, capture: 0.75 },
		},
	]);
});
