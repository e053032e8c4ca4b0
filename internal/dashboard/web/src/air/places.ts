import { type UseQueryResult, useQuery } from '@tanstack/preact-query';
import { api, type Schemas, unwrap } from '../api/client';
import { bandOf, type Category } from './category';
import { place } from './projection';

/** Place is a city or a station, as the map and its list show it. */
export interface Place {
	/** id tells places of one layer apart: the name of a city, the id of a station. */
	id: string;
	name: string;
	state: string;
	/** city is the name of the city's page; undefined for a station whose city has none. */
	city: string | undefined;
	aqi: number | null;
	category: Category | null;
	updated: string | null;
	/** at is the position on the drawing; undefined when it is not known. */
	at: [number, number] | undefined;
	/** severity orders categories: 0 is Good, -1 without one. */
	severity: number;
	stations: number | undefined;
	source: string | undefined;
}

type Page<T> = { data: T[]; has_more: boolean; next_cursor: string | null };

/** all follows a list to its end, a thousand entries a call. */
async function all<T>(page: (cursor: string | undefined) => Promise<Page<T>>): Promise<T[]> {
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

function severity(category: Category | null): number {
	return bandOf(category) && category ? (severities.get(category) ?? -1) : -1;
}

/** cityPlace is a city of the API on the map. */
export function cityPlace(city: Schemas['City']): Place {
	return {
		id: city.name,
		name: city.name,
		state: city.state,
		city: city.name,
		aqi: city.aqi,
		category: city.category,
		updated: city.updated,
		at: place(city.latitude, city.longitude),
		severity: severity(city.category),
		stations: city.stations,
		source: undefined,
	};
}

/** stationPlace is a station of the API on the map. */
export function stationPlace(station: Schemas['Station']): Place {
	return {
		id: station.id,
		name: station.name,
		state: station.state,
		city: station.city && station.state ? `${station.city}, ${station.state}` : station.city || undefined,
		aqi: station.aqi,
		category: station.category,
		updated: station.updated,
		at: place(station.latitude, station.longitude),
		severity: severity(station.category),
		stations: undefined,
		source: station.attribution,
	};
}

/** Layer is what the map shows. */
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

/** Order is how a list of places is sorted. */
export type Order = 'worst' | 'best' | 'name';

/** sorted is places in an order; those without an index come last. */
export function sorted(places: readonly Place[], order: Order, language: string): Place[] {
	const names = new Intl.Collator(language);
	const byName = (a: Place, b: Place) => names.compare(a.name, b.name);
	if (order === 'name') {
		return places.toSorted(byName);
	}
	const sign = order === 'worst' ? -1 : 1;
	return places.toSorted((a, b) => {
		if (a.aqi === null || b.aqi === null) {
			return a.aqi === b.aqi ? byName(a, b) : a.aqi === null ? 1 : -1;
		}
		return sign * (a.aqi - b.aqi) || byName(a, b);
	});
}

/** Fresh is when the figures of places were measured, first and last. */
export function fresh(places: readonly Place[]): { oldest: string; newest: string } | undefined {
	const times = places.flatMap(({ updated }) => updated ?? []);
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

/** cityPath is the address of a city's page. */
export function cityPath(name: string): string {
	return `/air/${encodeURIComponent(name).replaceAll('%2C', ',')}`;
}
