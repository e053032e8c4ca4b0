import Supercluster from 'supercluster';
import { type Disc, joinOverlaps } from './overlaps';
import type { Place } from './places';
import type { Point } from './projection';

/** Group is several places that are too close to each other for a mark each. */
export interface Group {
	at: { latitude: number; longitude: number };
	/** count is the number of places that report; that of all places if none does. */
	count: number;
	/** worst is the place with the highest figure; undefined if none has one. */
	worst: Place | undefined;
	/** opens is the zoom at which the group separates into its places. */
	opens: number;
	/** stale is true if no place reports. */
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

/** radius is the distance in pixels below which two places share a mark. */
const radius = 34;

/** placeRadius and groupRadius are half the width of the marks of a place and of a group, in pixels. */
const [placeRadius, groupRadius] = [17, 20];

/** lastZoom is the greatest zoom with groups of the index. The list separates places at the same position. */
const lastZoom = 12;

/** Sum describes places: how many report, one of these or of all if none does, and the one with the highest figure. */
interface Sum {
	reporting: number;
	place: Place;
	worst: Place | undefined;
}

type Index = Supercluster<{ place: Place }, Sum>;

function sumOf(place: Place): Sum {
	return { reporting: place.stale ? 0 : 1, place, worst: place.stale || place.aqi === null ? undefined : place };
}

function added(a: Sum, b: Sum): Sum {
	const worst = (b.worst?.aqi ?? -1) > (a.worst?.aqi ?? -1) ? b.worst : a.worst;
	return { reporting: a.reporting + b.reporting, place: a.reporting > 0 ? a.place : b.place, worst };
}

function indexed(places: readonly Place[]): Index {
	const index: Index = new Supercluster<{ place: Place }, Sum>({
		...{ radius, maxZoom: lastZoom, minPoints: 2, extent: 256 },
		map: ({ place }) => sumOf(place),
		reduce: (sum, other) => void Object.assign(sum, added(sum, other)),
	});
	return index.load(
		places.flatMap((place) =>
			place.position
				? [{ type: 'Feature', properties: { place }, geometry: { type: 'Point', coordinates: [place.position[1], place.position[0]] } }]
				: [],
		),
	);
}

/** pixelOf returns a position in pixels of the Web Mercator map of the world at a zoom. */
function pixelOf(latitude: number, longitude: number, zoom: number): Point {
	const north = Math.asinh(Math.tan((latitude * Math.PI) / 180)) / Math.PI;
	return [128 * 2 ** zoom * (1 + longitude / 180), 128 * 2 ** zoom * (1 - north)];
}

/** Found is a mark on the screen: one place, or count places. */
interface Found extends Sum, Disc {
	coordinates: readonly [longitude: number, latitude: number];
	count: number;
	opens: number;
}

/** positioned moves a mark with one reporting place to its position, where the map draws it as a place. */
function positioned(mark: Found, zoom: number): Found {
	const { position } = mark.place;
	if (mark.reporting !== 1 || !position) {
		return mark;
	}
	const [latitude, longitude] = position;
	return { ...mark, coordinates: [longitude, latitude], at: pixelOf(latitude, longitude, zoom), radius: placeRadius };
}

/**
 * clustered returns a function that groups places by zoom. The number and the colour of a group are those of its places that
 * report. A group with one such place is shown as this place. No mark covers another.
 */
export function clustered(places: readonly Place[]): (area: Area, zoom: number) => Marks {
	const hour = places[0]?.hour;
	const index = indexed(places);
	return (area, zoom) => {
		const found = index.getClusters(area, Math.ceil(zoom)).map(({ geometry, properties }): Found => {
			const [longitude = 0, latitude = 0] = geometry.coordinates;
			const of = { coordinates: [longitude, latitude] as const, at: pixelOf(latitude, longitude, zoom) };
			if ('point_count' in properties) {
				const group = { ...of, ...properties, count: properties.point_count, radius: groupRadius };
				return positioned({ ...group, opens: index.getClusterExpansionZoom(properties.cluster_id) }, zoom);
			}
			return { ...of, ...sumOf(properties.place), count: 1, radius: placeRadius, opens: 0 };
		});
		found.sort((a, b) => (b.worst?.aqi ?? -1) - (a.worst?.aqi ?? -1));
		// The index has whole zooms, and the middle of a group can be close to another mark.
		const apart = joinOverlaps(found, 1, (a, b) =>
			positioned({ ...a, ...added(a, b), count: a.count + b.count, radius: groupRadius, opens: Math.floor(zoom) + 1 }, zoom),
		);
		const marks: Marks = { places: [], groups: [] };
		for (const { coordinates, count, reporting, place, worst, opens } of apart) {
			if (count === 1 || reporting === 1) {
				marks.places.push(place);
				continue;
			}
			const [longitude, latitude] = coordinates;
			marks.groups.push({
				...{ at: { latitude, longitude }, count: reporting || count, worst, opens, stale: reporting === 0 },
				...(hour && { hour }),
			});
		}
		return marks;
	};
}
