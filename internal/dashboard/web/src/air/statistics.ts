import type { UseQueryOptions } from '@tanstack/preact-query';
import { api, type Schemas, unwrap } from '../api/client';
import { today } from '../dates';
import type { Pollutant } from './category';
import { all } from './places';

/** Statistic is a row of a view of the API. */
export type Statistic = Schemas['Statistic'];

/** Measured is the place of the stations in the statistics. */
export type Measured = { city: string } | { station: string };

/** View is a view of the statistics that a page shows. */
type View = 'diurnal' | 'weekday' | 'exceedance';

/** statistics returns the query of a view of a pollutant in a year. Low-cost sensors of a city are left out. */
export function statistics(of: Measured, view: View, pollutant: Pollutant, year: string): UseQueryOptions<Statistic[], Error> {
	const end = `${year}-12-31`;
	const now = today(new Date());
	const query = { ...of, view, parameters: pollutant, from: `${year}-01-01`, to: end < now ? end : now, limit: 1000 };
	return {
		queryKey: ['statistics', of, view, pollutant, year],
		queryFn: ({ signal }) =>
			all((cursor) => unwrap(api.GET('/v1/statistics', { params: { query: { ...query, ...(cursor && { cursor }) } }, signal }))),
		staleTime: 600_000,
	};
}

/** Course is the mean of an hour of the day (0 to 23) or of a day of the week (1 is Monday) over the stations of a place. */
export interface Course {
	at: number;
	/** mean is in the unit of the pollutant. */
	mean: number;
	/** hours are the measured hours in the mean. */
	hours: number;
}

/** courseOf returns the means of the parts of a day or a week, each weighted by the measured hours of the stations. */
export function courseOf(rows: readonly Statistic[]): Course[] {
	const sums = new Map<number, { sum: number; hours: number }>();
	for (const { hour, weekday, mean, coverage } of rows) {
		const at = hour ?? weekday;
		if (at !== undefined && typeof mean === 'number' && coverage.hours > 0) {
			const { sum, hours } = sums.get(at) ?? { sum: 0, hours: 0 };
			sums.set(at, { sum: sum + mean * coverage.hours, hours: hours + coverage.hours });
		}
	}
	return [...sums].map(([at, { sum, hours }]) => ({ at, mean: sum / hours, hours })).sort((a, b) => a.at - b.at);
}

/** capture returns the share of the hours of a year that were measured, from 0 to 1. */
export function capture(rows: readonly Statistic[]): number {
	const [hours, expected] = rows.reduce(([h, e], { coverage }) => [h + coverage.hours, e + coverage.expected_hours], [0, 0]);
	return expected === 0 ? 0 : hours / expected;
}

/** Limit is a limit of a standard, with the figures of the stations that were compared with it. */
export interface Limit {
	id: string;
	standard: NonNullable<Statistic['standard']>;
	period: NonNullable<Statistic['period']>;
	/** value is in the unit of the pollutant. */
	value: number;
}

const periods = ['1h', '8h', '24h', 'year'] as const;

/** limitsOf returns the limits of rows: India's before the WHO's, and short averaging times before long ones. */
export function limitsOf(rows: readonly Statistic[]): Limit[] {
	const found = new Map<string, Limit>();
	for (const { standard, period, value } of rows) {
		if (standard && period && value !== undefined) {
			const id = `${standard} ${period}`;
			found.set(id, { id, standard, period, value });
		}
	}
	return [...found.values()].sort((a, b) => a.standard.localeCompare(b.standard) || periods.indexOf(a.period) - periods.indexOf(b.period));
}

/** Judged is a station with its row of each limit. */
export interface Judged {
	id: string;
	name: string;
	rows: ReadonlyMap<string, Statistic>;
	/** capture is the share of the hours of the year that were measured, from 0 to 1. */
	capture: number;
}

/** judged returns the stations of rows in the order of the API, each with its row of each limit. */
export function judged(rows: readonly Statistic[]): Judged[] {
	const found = new Map<string, { name: string; rows: Map<string, Statistic>; capture: number }>();
	for (const row of rows) {
		const id = row.station ?? '';
		const one = found.get(id) ?? { name: row.name || id, rows: new Map<string, Statistic>(), capture: row.coverage.capture };
		one.rows.set(`${row.standard} ${row.period}`, row);
		found.set(id, one);
	}
	return [...found].map(([id, one]) => ({ id, ...one }));
}
