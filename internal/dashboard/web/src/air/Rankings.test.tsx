import { QueryClient, QueryClientProvider } from '@tanstack/preact-query';
import { fireEvent, render, screen, within } from '@testing-library/preact';
import { beforeEach, expect, test, vi } from 'vitest';
import { api } from '../api/client';
import { sessionState } from '../session';
import { Rankings } from './Rankings';
import type { Ranked } from './ranking';

type Query = Record<string, string | number | undefined>;

const requests: Query[] = [];
const all: Ranked[] = [
	{
		rank: 1,
		city: 'Delhi',
		state: 'Delhi',
		value: 361.4,
		category: 'Very Poor',
		stations: 6,
		coverage: { count: 20, expected: 20, capture: 1 },
	},
	{
		rank: 2,
		city: 'Agra',
		state: 'Uttar Pradesh',
		value: 200,
		category: 'Moderate',
		stations: 4,
		coverage: { count: 15, expected: 20, capture: 0.75 },
	},
	{
		rank: 2,
		city: 'Noida',
		state: 'Uttar Pradesh',
		value: 200,
		category: 'Moderate',
		stations: 5,
		coverage: { count: 16, expected: 20, capture: 0.8 },
	},
];
const state = { cities: all };

// The API sends two pages.
const get = vi.fn(async (_path: string, options: { params: { query: Query } }) => {
	const { query } = options.params;
	requests.push(query);
	const period = query.period ?? 'now';
	const { cities } = state;
	const data = {
		...{
			status: 'success',
			period,
			parameter: query.parameter,
			unit: query.parameter === 'aqi' ? '' : 'µg/m³',
			counted: 'days',
			unranked: 7,
		},
		...(period !== 'now' && { from: '2026-11-01', to: '2026-11-20' }),
		...(query.cursor
			? { data: cities.slice(1), next_cursor: null }
			: { data: cities.slice(0, 1), next_cursor: cities.length > 1 ? 'more' : null }),
	};
	return { data, response: Response.json({}) };
});

beforeEach(() => {
	sessionState.value = { at: 'in', current: { key: { scopes: ['aqi:read'] } } } as unknown as typeof sessionState.value;
	requests.length = 0;
	state.cities = all;
	vi.spyOn(api, 'GET').mockImplementation(get as unknown as typeof api.GET);
});

function show(search = ''): void {
	history.replaceState(null, '', `/dashboard/rankings${search}`);
	render(
		<QueryClientProvider client={new QueryClient()}>
			<Rankings />
		</QueryClientProvider>,
	);
}

const cities = () =>
	screen
		.getAllByRole('row')
		.slice(1)
		.map((row) => within(row).getByRole('link').textContent);

test('all pages of a ranking are one table, with the coverage beside each figure', async () => {
	show();
	await screen.findByText('Agra');
	expect(cities()).toEqual(['Delhi', 'Agra', 'Noida']);
	expect(screen.getAllByRole('row')[2]?.textContent).toMatch(/^2Agra Uttar Pradesh200 Moderate475 % 15 of 20 days$/);
	screen.getByText(/Cities: 3\. Not ranked, because of too little data: 7\./);
	expect(requests[0]).toEqual({ period: 'now', parameter: 'aqi', order: 'highest', limit: 1000 });
});

test('a heading sorts the rows both ways, and the ranks stay', async () => {
	show();
	const heading = await screen.findByRole('button', { name: /^Coverage/ });
	fireEvent.click(heading);
	await expect.poll(cities).toEqual(['Delhi', 'Noida', 'Agra']);
	expect(screen.getByRole('columnheader', { name: /Coverage/ }).getAttribute('aria-sort')).toBe('descending');
	fireEvent.click(screen.getByRole('button', { name: /^Coverage/ }));
	await expect.poll(cities).toEqual(['Agra', 'Noida', 'Delhi']);
	expect(new URL(location.href).searchParams.get('sort')).toBe('capture');
	expect(requests.length).toBe(2);
});

test('a state filters the rows, and its cities keep the ranks of all of India', async () => {
	show('?state=Uttar%20Pradesh');
	await screen.findByText('Agra');
	expect(cities()).toEqual(['Agra', 'Noida']);
	expect(screen.getAllByRole('row')[1]?.textContent).toMatch(/^2/);
});

test('a pollutant of a year is requested by name, and has a unit and no category', async () => {
	show('?period=year&date=2026-11-20&of=nh3&order=lowest');
	await screen.findByRole('columnheader', { name: 'NH₃ (µg/m³)' });
	expect(requests[0]).toMatchObject({ period: 'year', date: '2026-11-20', parameter: 'nh3', order: 'lowest' });
	fireEvent.click(screen.getByRole('button', { name: 'Month' }));
	await screen.findByRole('columnheader', { name: 'Index (AQI)' });
	expect(requests.at(-1)).toMatchObject({ period: 'month', date: '2026-11-20', parameter: 'aqi' });
});

test('a period without any ranked city says so', async () => {
	state.cities = [];
	show('?period=month&date=2026-11-20');
	await screen.findByText('No cities are ranked');
	screen.getByText(/too little data: 7/);
	expect(screen.queryByRole('button', { name: 'Save as CSV' })).toBeNull();
});

test('a month and a year have fields of their own', async () => {
	show('?period=month&date=2026-11-20');
	const month = await screen.findByLabelText<HTMLInputElement>('Month');
	expect(month.value).toBe('2026-11');
	fireEvent.change(month, { target: { value: '2026-03' } });
	await expect.poll(() => requests.at(-1)).toMatchObject({ period: 'month', date: '2026-03-01' });
	fireEvent.click(screen.getByRole('button', { name: 'Year' }));
	const year = await screen.findByLabelText<HTMLInputElement>('Year');
	expect(year.value).toBe('2026');
	fireEvent.change(year, { target: { value: '2025' } });
	await expect.poll(() => requests.at(-1)).toMatchObject({ period: 'year', date: '2025-01-01' });
});
