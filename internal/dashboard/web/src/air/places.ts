import { type UseQueryResult, useQuery } from '@tanstack/preact-query';
import { api, type Schemas, unwrap } from '../api/client';
import { isStale } from './age';
import { bandOf, bands, type Category, type Figure, highest, notReporting, type Pollutant } from './category';
import { place } from './projection';
import type { Scale } from './scale';

/** Place is a city or a station on the map and in its list. */
export interface Place {
	/** id is unique within a layer: the name of a city, or the id of a station. */
	id: string;
	name: string;
	state: string;
	/** city is the name of the city's page; undefined for a station whose city has none. */
	city: string | undefined;
	aqi: number | null;
	/** category is a category of the scale. */
	category: string | null;
	/** scale is absent for India's index and for concentrations. */
	scale?: Scale;
	updated: string | null;
	/** stale is true if the place has no figures of the last three hours. Then it has no rank and no colour. */
	stale: boolean;
	/** at is the position on the map; undefined if unknown. */
	at: [number, number] | undefined;
	/** position is latitude and longitude in degrees; undefined if unknown. */
	position: readonly [latitude: number, longitude: number] | undefined;
	/** severity orders categories: 0 is Good, and -1 is no category. */
	severity: number;
	stations: number | undefined;
	source: string | undefined;
	/** kind is the kind of a station. figures are the means of a station in the units of the categories. */
	kind: Schemas['StationKind'] | undefined;
	figures: Readonly<Record<Pollutant, number | null>> | undefined;
	/** hour is the end of the past hour of the figures; absent for present figures. */
	hour?: string;
}

type Page<T> = { data: T[]; has_more: boolean; next_cursor: string | null };

/** stationPath returns the path of a station's page. */
export function stationPath(id: string): string {
	return `/station/${encodeURIComponent(id)}`;
}

/** all fetches all pages of a list. */
export async function all<T>(page: (cursor: string | undefined) => Promise<Page<T>>): Promise<T[]> {
	const found: T[] = [];
	let cursor: string | undefined;
	do {
		const got = await page(cursor);
		found.push(...got.data);
		cursor = (got.has_more && got.next_cursor) || undefined;
	} while (cursor);
	return found;
}

const severities = new Map<string, number>(['Good', 'Satisfactory', 'Moderate', 'Poor', 'Very Poor', 'Severe'].map((word, i) => [word, i]));

/** severity orders categories: 0 is Good, and -1 is no category. */
export function severity(category: Category | null): number {
	return bandOf(category) && category ? (severities.get(category) ?? -1) : -1;
}

/** cityPlace converts a city of the API. */
export function cityPlace(city: Schemas['City']): Place {
	return {
		id: city.name,
		name: city.name,
		state: city.state,
		city: city.name,
		aqi: city.aqi,
		category: city.category,
		updated: city.updated,
		stale: city.stale,
		at: place(city.latitude, city.longitude),
		position: position(city),
		severity: severity(city.category),
		stations: city.stations,
		source: undefined,
		kind: undefined,
		figures: undefined,
	};
}

/** stationPlace converts a station of the API. */
export function stationPlace(station: Schemas['Station']): Place {
	return {
		id: station.id,
		name: station.name,
		state: station.state,
		city: station.city && station.state && station.city !== station.state ? `${station.city}, ${station.state}` : station.city || undefined,
		aqi: station.aqi,
		category: station.category,
		updated: station.updated,
		stale: station.stale,
		at: place(station.latitude, station.longitude),
		position: position(station),
		severity: severity(station.category),
		stations: undefined,
		source: station.attribution,
		kind: station.kind,
		figures: { pm25: station.pm25, pm10: station.pm10, no2: station.no2, so2: station.so2, co: station.co, o3: station.o3 },
	};
}

function position({ latitude, longitude }: { latitude: number | null; longitude: number | null }): Place['position'] {
	return latitude === null || longitude === null ? undefined : [latitude, longitude];
}

/**
 * showing returns a station with a figure in place of the index, and with the category of that figure. Concentrations have
 * CPCB's limits for means of 24 hours, and of 8 hours for CO and O3.
 */
export function showing(one: Place, figure: Figure): Place {
	if (figure === 'aqi' || !one.figures) {
		return one;
	}
	const amount = one.figures[figure];
	const limits = highest[figure];
	const above = limits.filter((limit) => (amount ?? 0) > limit).length;
	const category = amount === null ? null : (bands[above]?.word ?? null);
	return { ...one, aqi: amount, category, severity: severity(category) };
}

/** Layer is the kind of places on the map. */
export type Layer = 'cities' | 'stations';

/** usePlaces fetches all cities or all stations. */
export function usePlaces(layer: Layer): UseQueryResult<Place[], Error> {
	return useQuery({
		queryKey: ['air', layer],
		queryFn: async ({ signal }) => {
			const query = (cursor: string | undefined) => ({ params: { query: { limit: 1000, ...(cursor && { cursor }) } }, signal });
			return layer === 'cities'
				? (await all((cursor) => unwrap(api.GET('/v1/cities', query(cursor))))).map(cityPlace)
				: (await all((cursor) => unwrap(api.GET('/v1/stations', query(cursor))))).map(stationPlace);
		},
	});
}

/** aged returns places as they are now: figures can become stale on an open page. */
export function aged(places: readonly Place[], now: Date): readonly Place[] {
	return places.map((one) => (isStale(one, now) ? { ...one, stale: true, severity: -1 } : one));
}

/** groupOf returns the group of a place in the legend: its category, or notReporting. */
export function groupOf(one: Place): string {
	return one.stale ? notReporting : (one.category ?? '');
}

/** Order is a sort order of places. */
export type Order = 'worst' | 'best' | 'name';

/** sorted returns places in an order. Places without an index come late, and places that do not report last. */
export function sorted(places: readonly Place[], order: Order, language: string): Place[] {
	const names = new Intl.Collator(language);
	const byName = (a: Place, b: Place) => names.compare(a.name, b.name);
	if (order === 'name') {
		return places.toSorted(byName);
	}
	const sign = order === 'worst' ? -1 : 1;
	return places.toSorted((a, b) => {
		if (a.stale || b.stale) {
			return a.stale === b.stale ? byName(a, b) : a.stale ? 1 : -1;
		}
		if (a.aqi === null || b.aqi === null) {
			return a.aqi === b.aqi ? byName(a, b) : a.aqi === null ? 1 : -1;
		}
		return sign * (a.aqi - b.aqi) || byName(a, b);
	});
}

/** fresh returns when the oldest and the newest current figures of places were measured. */
export function fresh(places: readonly Place[]): { oldest: string; newest: string } | undefined {
	const times = places.flatMap(({ updated, stale }) => (stale ? [] : (updated ?? [])));
	const [first] = times;
	return first === undefined
		? undefined
		: times.reduce(
				({ oldest, newest }, at) => ({
					oldest: Date.parse(at) < Date.parse(oldest) ? at : oldest,
					newest: Date.parse(at) > Date.parse(newest) ? at : newest,
				}),
				{ oldest: first, newest: first },
			);
}

/** cityPath returns the path of a city's page. */
export function cityPath(name: string): string {
	return `/air/${encodeURIComponent(name).replaceAll('%2C', ',')}`;
}

/** forecastPath returns the path of the page of a city's forecast. */
export function forecastPath(name: string): string {
	return cityPath(name).replace('/air/', '/forecast/');
}

/** decoded returns the name that a part of an address has. */
export function decoded(part: string): string {
	try {
		return decodeURIComponent(part);
	} catch {
		// A % that is no valid escape is part of the name.
		return part;
	}
}
