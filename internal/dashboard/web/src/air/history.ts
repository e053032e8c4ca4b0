import { type UseQueryOptions, useQuery } from '@tanstack/preact-query';
import { api, Problem, type Schemas, unwrap } from '../api/client';
import { patience, queries } from '../api/queries';
import { before, today } from '../dates';
import { t } from '../i18n';
import { hasScope } from '../session';
import type { Period } from './period';
import { type Entry, type Step, windows } from './series';

/** Subject is a place that the API has data for. */
export type Subject = { city: string } | { pincode: string } | { station: string };

/** Detail is a record with its sub-indices and stations. */
export type Detail = Schemas['DetailedRecord'];

/**
 * unlessEmpty retries a read after a transient error, but not while the service has no data. A notice reports new data.
 */
function unlessEmpty(count: number, error: Error): boolean {
	return error instanceof Problem && error.passing && error.status !== 503 && count < patience;
}

/** recordKey is the key of a record in the cache. */
export function recordKey(where: Subject, date: string | undefined): readonly unknown[] {
	return ['air', 'record', where, date ?? 'now'];
}

/** recordOf returns the query of the detailed record of a place, for now or for a day in India. */
export function recordOf(where: Subject, date: string | undefined): UseQueryOptions<Detail, Error> {
	return {
		queryKey: recordKey(where, date),
		queryFn: async ({ signal }): Promise<Detail> => {
			const got = await unwrap(api.GET('/v1/aqi', { params: { query: { ...where, view: 'detail', ...(date && { date }) } }, signal }));
			if (!('sub_indices' in got)) {
				throw new Problem(200, undefined);
			}
			return got;
		},
		enabled: hasScope('aqi:read'),
		retry: unlessEmpty,
	};
}

/** useRecord fetches the detailed record of a place, for now or for a day in India. */
export function useRecord(where: Subject, date: string | undefined) {
	return useQuery(recordOf(where, date));
}

/** credits joins attributions. One can name several networks, and several can name the same. */
export function credits(attributions: readonly string[]): string {
	const names = attributions.flatMap((one) => one.split(';').map((name) => name.trim()));
	// The attribution of the simulator is not a name, so it has a text in each language.
	return [...new Set(names)]
		.filter(Boolean)
		.map((name) => (name === 'Simulated data' ? t('air.simulated') : name))
		.join('; ');
}

async function entries(where: Subject, part: { from: string; to: string }, step: Step, signal: AbortSignal): Promise<Entry[]> {
	const got = await unwrap(api.GET('/v1/aqi', { params: { query: { ...where, ...part, interval: step } }, signal }));
	return 'records' in got ? got.records : [];
}

const longest: Readonly<Record<Step, number>> = { hour: 31, day: 366 };
const atOnce = 3;
const settled = 3;

/**
 * gather fetches a range in several calls, at most atOnce at a time. Parts older than `settled` days no longer
 * change, so they are cached. An empty part is no error; if all parts are empty, gather throws no_data.
 */
async function gather(where: Subject, from: string, to: string, step: Step, signal: AbortSignal): Promise<Entry[]> {
	const parts = windows(from, to, longest[step]);
	const found: Entry[][] = parts.map(() => []);
	let missing: Problem | undefined;
	let next = 0;
	const work = async () => {
		while (next < parts.length && !signal.aborted) {
			const index = next++;
			const part = parts[index];
			if (!part) {
				return;
			}
			try {
				found[index] =
					part.to < before(today(new Date()), settled)
						? await queries.fetchQuery({
								queryKey: ['past', where, part, step],
								// This signal belongs to the cached query, not to this page. Another page can wait for the same
								// part.
								queryFn: ({ signal }) => entries(where, part, step, signal).catch(none),
								staleTime: 600_000,
							})
						: await entries(where, part, step, signal);
			} catch (error) {
				if (!(error instanceof Problem && error.code === 'no_data')) {
					throw error;
				}
				missing = error;
			}
		}
	};
	await Promise.all(Array.from({ length: Math.min(atOnce, parts.length) }, work));
	if (missing && found.every((part) => part.length === 0)) {
		throw missing;
	}
	return found.flat();
}

/** none returns an empty list for no_data, so that empty parts are cached too. */
function none(error: unknown): Entry[] {
	if (error instanceof Problem && error.code === 'no_data') {
		return [];
	}
	throw error;
}

/** history returns the query of a place's hours or days over a period. */
export function history(where: Subject, { from, to }: Period, step: Step): UseQueryOptions<Entry[], Error> {
	return {
		queryKey: ['air', 'history', where, from, to, step],
		queryFn: ({ signal }) => gather(where, from, to, step, signal),
		staleTime: 60_000,
		retry: unlessEmpty,
	};
}

/** useStation fetches a station: its name, its kind, and the first and the last of its readings. */
export function useStation(id: string | undefined) {
	return useQuery({
		queryKey: ['station', id],
		queryFn: ({ signal }) => unwrap(api.GET('/v1/stations/{id}', { params: { path: { id: id ?? '' } }, signal })),
		enabled: id !== undefined && hasScope('aqi:read'),
		staleTime: 600_000,
	});
}

/** readingsOf returns the first and the last day, in India, of a station's readings. The API has instants in UTC. */
export function readingsOf(station: { first_seen: string; last_seen: string }): { first: string; last: string } {
	return { first: today(new Date(station.first_seen)), last: today(new Date(station.last_seen)) };
}

/**
 * useReadings fetches the first and the last day of a city's readings. It is undefined while they are unknown, and for
 * a name that no city has.
 */
export function useReadings(city: string | undefined): { first: string; last: string } | undefined {
	const { data } = useQuery({
		queryKey: ['readings', city],
		queryFn: ({ signal }) => unwrap(api.GET('/v1/cities', { params: { query: { q: city ?? '', limit: 100 } }, signal })),
		enabled: city !== undefined,
		staleTime: 600_000,
	});
	const found = data?.data.find((one) => one.name === city);
	return found && { first: found.first_day, last: found.last_day };
}
