import { type UseQueryResult, useQuery } from '@tanstack/preact-query';
import type { operations } from '../../made/schema';
import { api, unwrap } from '../api/client';
import { before, today } from '../dates';
import type { Key } from '../i18n';
import { pollutants } from './category';
import { cityPath } from './places';

type Ranking = operations['getRankings']['responses'][200]['content']['application/json'];
type Query = NonNullable<operations['getRankings']['parameters']['query']>;

/** Ranked is a city of a ranking. */
export type Ranked = Ranking['data'][number];

/** Period is the kind of the period of a ranking. */
export type Period = Ranking['period'];

/** Parameter is what a ranking compares: the index, or for a year a pollutant. */
export type Parameter = Ranking['parameter'];

/** Order says which value has rank 1. */
export type Order = NonNullable<Query['order']>;

/** periods are the kinds of periods, with their names. */
export const periods: readonly (readonly [Period, Key])[] = [
	['now', 'air.ranking.now'],
	['day', 'air.ranking.day'],
	['month', 'air.ranking.month'],
	['year', 'air.ranking.year'],
];

/** parameters are what a year can be ranked by, with their names. The index has a name in each language. */
export const parameters: readonly (readonly [Exclude<Parameter, 'aqi'>, string])[] = [
	...pollutants.map(({ id, name }) => [id, name] as const),
	['nh3', 'NH₃'],
	['pb', 'Pb'],
];

/** Chosen is the selection that a ranking shows. */
export interface Chosen {
	period: Period;
	/** date is a day in India of the period; empty for now. */
	date: string;
	parameter: Parameter;
	order: Order;
}

const dated = /^\d{4}-\d{2}-\d{2}$/;

/** chosenOf reads a selection from the address. A present ranking has no date. Pollutants rank only years. */
export function chosenOf(filters: { period?: string; date?: string; of?: string; order?: string }, now: Date): Chosen {
	const period = periods.find(([id]) => id === filters.period)?.[0] ?? 'now';
	const { date = '' } = filters;
	const last = today(now);
	// The API refuses a date in the future. Dates sort as texts.
	const [valid] = dated.test(date) && !Number.isNaN(Date.parse(date)) ? [date, last].sort() : [before(last, 1)];
	return {
		period,
		date: period === 'now' ? '' : (valid ?? last),
		parameter: (period === 'year' && parameters.find(([id]) => id === filters.of)?.[0]) || 'aqi',
		order: filters.order === 'lowest' ? 'lowest' : 'highest',
	};
}

/** moved returns a day in the period that is a number of periods later, or earlier if by is negative. */
export function moved({ period, date }: Pick<Chosen, 'period' | 'date'>, by: number): string {
	if (period === 'day') {
		return before(date, -by);
	}
	// The first day of a month exists in every month and year.
	const [year = 0, month = 1] = date.split('-').map(Number);
	const at = period === 'month' ? new Date(Date.UTC(year, month - 1 + by, 1)) : new Date(Date.UTC(year + by, 0, 1));
	return at.toISOString().slice(0, 10);
}

/** begins returns the first day of the period of a day. */
export function begins({ period, date }: Pick<Chosen, 'period' | 'date'>): string {
	return period === 'day' ? date : moved({ period, date }, 0);
}

/** useRanking fetches all pages of a ranking. */
export function useRanking(chosen: Chosen): UseQueryResult<Ranking, Error> {
	const { period, date, parameter, order } = chosen;
	return useQuery({
		queryKey: ['air', 'ranking', period, date, parameter, order],
		queryFn: async ({ signal }) => {
			const page = (cursor: string | undefined) =>
				unwrap(
					api.GET('/v1/rankings', {
						params: { query: { period, ...(date && { date }), parameter, order, limit: 1000, ...(cursor && { cursor }) } },
						signal,
					}),
				);
			const found = await page(undefined);
			let next = found.next_cursor;
			while (next) {
				const more: Ranking = await page(next);
				found.data.push(...more.data);
				next = more.next_cursor;
			}
			return found;
		},
	});
}

/** Column is a column by which the rows of a ranking can be sorted. */
export type Column = 'rank' | 'city' | 'stations' | 'capture';

/** Sort is the order of the rows. It does not change the ranks. */
export interface Sort {
	by: Column;
	descending: boolean;
}

/** sortOf reads the order of the rows from the address, for example "-capture". The default is the rank. */
export function sortOf(text: string | undefined): Sort {
	const descending = text?.startsWith('-') ?? false;
	const name = descending ? text?.slice(1) : text;
	const by = (['city', 'stations', 'capture'] as const).find((one) => one === name) ?? 'rank';
	return { by, descending };
}

/** sorted returns the rows in an order. Equal rows keep the order of their ranks. */
export function sorted(rows: readonly Ranked[], { by, descending }: Sort, language: string): Ranked[] {
	const names = new Intl.Collator(language);
	const sign = descending ? -1 : 1;
	const compared: Record<Column, (a: Ranked, b: Ranked) => number> = {
		rank: (a, b) => a.rank - b.rank,
		city: (a, b) => names.compare(a.city, b.city),
		stations: (a, b) => a.stations - b.stations,
		capture: (a, b) => a.coverage.capture - b.coverage.capture,
	};
	return rows.toSorted((a, b) => sign * compared[by](a, b) || a.rank - b.rank);
}

/** rankedPath returns the path of a city's page, which shows the period of the ranking. */
export function rankedPath(city: string, ranking: Pick<Ranking, 'period' | 'from' | 'to' | 'parameter'>): string {
	const { period, from, to, parameter } = ranking;
	if (period === 'now' || !from || !to) {
		return cityPath(city);
	}
	const query = new URLSearchParams(
		period === 'day' ? { date: from } : { span: 'range', from, to, by: 'day', ...(period === 'year' && { year: from.slice(0, 4) }) },
	);
	if (pollutants.some(({ id }) => id === parameter)) {
		query.set('of', parameter);
	}
	return `${cityPath(city)}?${query}`;
}

/** tableOf returns the rows of a ranking as a table for a CSV file, with the names of the API. */
export function tableOf(ranking: Ranking, rows: readonly Ranked[]): Record<string, string | number>[] {
	const { period, from = '', to = '', parameter, unit, counted } = ranking;
	return rows.map(({ rank, city, state, value, category, stations, coverage }) => ({
		...{ period, from, to, parameter, unit, rank, city, state, value, category: category ?? '', stations },
		...{ counted, count: coverage.count, expected: coverage.expected, capture: coverage.capture },
	}));
}
