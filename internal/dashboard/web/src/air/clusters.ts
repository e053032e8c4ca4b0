import Supercluster from 'supercluster';
import type { Place } from './places';

/** Group is several places that are too close to each other for a mark each. */
export interface Group {
	at: { latitude: number; longitude: number };
	count: number;
	/** worst is the place with the highest figure; undefined if none has one. */
	worst: Place | undefined;
	/** opens is the zoom at which the group separates into its places. */
	opens: number;
	stale: boolean;
	/** hour is the end of the past hour of the places; absent for present figures. */
	hour?: string | undefined;
}

/** Marks are what the map shows of an area: single places and groups. */
export interface Marks {
	places: Place[];
	groups: Group[];
}

/** Area is a part of the earth: west, south, east and north in degrees. */
export type Area = [west: number, south: number, east: number, north: number];

/** radius is the distance in pixels below which two marks would cover each other. */
const radius = 44;

/** lastZoom is the greatest zoom with groups. The list separates places at the same position. */
const lastZoom = 12;

type Index = Supercluster<{ place: Place }, { worst: Place | undefined }>;

function worse(a: Place | undefined, b: Place | undefined): Place | undefined {
	return (b?.aqi ?? -1) > (a?.aqi ?? -1) ? b : a;
}

function indexed(places: readonly Place[]): Index {
	const index: Index = new Supercluster<{ place: Place }, { worst: Place | undefined }>({
		...{ radius, maxZoom: lastZoom, minPoints: 2, extent: 256 },
		map: ({ place }) => ({ worst: place }),
		reduce: (sum, one) => {
			sum.worst = worse(sum.worst, one.worst);
		},
	});
	return index.load(
		places.flatMap((place) =>
			place.position
				? [{ type: 'Feature', properties: { place }, geometry: { type: 'Point', coordinates: [place.position[1], place.position[0]] } }]
				: [],
		),
	);
}

/**
 * clustered returns a function that groups places by zoom. Places that do not report have groups of their own, so the
 * number and the colour of a group are those of the present air.
 */
export function clustered(places: readonly Place[]): (area: Area, zoom: number) => Marks {
	const hour = places[0]?.hour;
	const indices = [false, true].map((stale) => ({ stale, index: indexed(places.filter((place) => place.stale === stale)) }));
	return (area, zoom) => {
		const marks: Marks = { places: [], groups: [] };
		for (const { stale, index } of indices) {
			// The zoom is rounded down, because marks would cover each other at a greater zoom.
			for (const { geometry, properties } of index.getClusters(area, Math.floor(zoom))) {
				if ('place' in properties) {
					marks.places.push(properties.place);
					continue;
				}
				const [longitude = 0, latitude = 0] = geometry.coordinates;
				marks.groups.push({
					...{ at: { latitude, longitude }, count: properties.point_count, stale, ...(hour && { hour }) },
					...{ worst: stale ? undefined : properties.worst, opens: index.getClusterExpansionZoom(properties.cluster_id) },
				});
			}
		}
		return marks;
	};
}
