import { keepPreviousData, type UseQueryResult, useQuery, useQueryClient } from '@tanstack/preact-query';
import { useEffect } from 'preact/hooks';
import { api, type Schemas, unwrap } from '../api/client';
import { all, type Place, severity } from './places';
import type { Scale, Scaled } from './scale';

/** week is the number of hours that the map can show. */
export const week = 168;

const hour = 3_600_000;

/** lastHour returns the end of the last full hour in India, in the format of the API. Indian hours end at half past in UTC. */
export function lastHour(now: Date): string {
	return stamp(Math.floor((now.getTime() - hour / 2) / hour) * hour + hour / 2);
}

/** hoursBefore returns the hour a number of hours before another. */
export function hoursBefore(at: string, count: number): string {
	return stamp(Date.parse(at) - count * hour);
}

/** hourOf reads an hour of the last week from the address; undefined for the present. */
export function hourOf(text: string | undefined, last: string): string | undefined {
	const age = (Date.parse(last) - Date.parse(text ?? '')) / hour;
	return Number.isInteger(age) && age >= 0 && age < week ? hoursBefore(last, age) : undefined;
}

function stamp(time: number): string {
	return new Date(time).toISOString().replace('.000Z', 'Z');
}

/** StationsInHour are the figures of the stations with a reading in an hour, by id. */
export interface StationsInHour {
	hour: string;
	scale: Scale;
	stations: ReadonlyMap<string, Schemas['Hour']['data'][number]>;
}

/** other returns the request parameter for a scale. India's index needs none, because every reply has it. */
function other(scale: Scale): { scale?: Scale } {
	return scale === 'in' ? {} : { scale };
}

/** stationsOf fetches all stations of an hour, by default of the newest. */
function stationsOf(query: { hour?: string; scale?: Scale }, signal: AbortSignal): Promise<Schemas['Hour']['data']> {
	return all((cursor) => unwrap(api.GET('/v1/hours', { params: { query: { ...query, limit: 1000, ...(cursor && { cursor }) } }, signal })));
}

function query(at: string, scale: Scale) {
	return {
		queryKey: ['air', 'hour', at, scale],
		queryFn: async ({ signal }: { signal: AbortSignal }): Promise<StationsInHour> => {
			const found = await stationsOf({ hour: at, ...other(scale) }, signal);
			return { hour: at, scale, stations: new Map(found.map((one) => [one.station, one])) };
		},
	};
}

/**
 * useHour fetches an hour, if there is one, and the hour after it, which a playing map shows next. Until an hour arrives, the
 * data are the figures of the hour that was shown before.
 */
export function useHour(at: string | undefined, last: string, scale: Scale): UseQueryResult<StationsInHour, Error> {
	const client = useQueryClient();
	useEffect(() => {
		if (at && at < last) {
			void client.prefetchQuery(query(hoursBefore(at, -1), scale));
		}
	}, [client, at, last, scale]);
	return useQuery({ ...query(at ?? '', scale), enabled: at !== undefined, ...(at && { placeholderData: keepPreviousData }) });
}

/**
 * usePresent fetches the index of each station on another scale than India's, by id. Current figures are at most three
 * hours old, so they are those of the newest hour or of the two before.
 */
export function usePresent(scale: Scale, needed: boolean): UseQueryResult<ReadonlyMap<string, Scaled>, Error> {
	return useQuery({
		queryKey: ['air', 'present', scale],
		enabled: needed,
		queryFn: async ({ signal }) => {
			const newest = await unwrap(api.GET('/v1/hours', { params: { query: { limit: 1 } }, signal }));
			const hours = [2, 1, 0].map((before) => hoursBefore(newest.hour, before));
			const found = await Promise.all(hours.map((hour) => stationsOf({ hour, ...other(scale) }, signal)));
			// The newest hour of a station comes last.
			return new Map(found.flat().map((one) => [one.station, one]));
		},
	});
}

/** placesIn returns stations as they were in an hour. Stations without a reading in it are stale and have no figures. */
export function placesIn(places: readonly Place[], { hour: at, stations }: StationsInHour): Place[] {
	return places.map((one) => {
		const found = stations.get(one.id);
		if (!found) {
			return { ...one, hour: at, aqi: null, category: null, updated: null, stale: true, severity: -1, figures: undefined };
		}
		const { aqi, category, updated, pm25, pm10, no2, so2, co, o3 } = found;
		return {
			...one,
			hour: at,
			aqi,
			category,
			updated,
			stale: false,
			severity: severity(category),
			figures: { pm25, pm10, no2, so2, co, o3 },
		};
	});
}
