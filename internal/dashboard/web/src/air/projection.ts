import { geoMercator } from 'd3-geo';
import type { Outline } from '../../outlines';

/** Point is a point of the map, in its units. */
export type Point = [x: number, y: number];

/** size is the width and height of the map of India, in its units. */
export const size = { width: 612, height: 696 } as const;

/** extent are the south-west and north-east corners of India with its islands, in degrees of longitude and latitude. */
const extent: [Point, Point] = [
	[68.1, 6.75],
	[97.42, 37.08],
];

const margin = 4;

const project = geoMercator().fitExtent(
	[
		[margin, margin],
		[size.width - margin, size.height - margin],
	],
	{ type: 'MultiPoint', coordinates: extent },
);

/** pointOf returns the point of a position, which may be outside the map. */
export function pointOf(latitude: number, longitude: number): Point {
	return project([longitude, latitude]) ?? [Number.NaN, Number.NaN];
}

/** place returns the point of a position on the map; undefined outside it. */
export function place(latitude: number | null, longitude: number | null): Point | undefined {
	if (latitude === null || longitude === null) {
		return undefined;
	}
	const at = pointOf(latitude, longitude);
	return at[0] >= 0 && at[0] <= size.width && at[1] >= 0 && at[1] <= size.height ? at : undefined;
}

/** corners are latitude and longitude of the map's south-west and north-east corners. */
export const corners = [
	[0, size.height],
	[size.width, 0],
].map(([x = 0, y = 0]) => {
	const [longitude, latitude] = project.invert?.([x, y]) ?? [0, 0];
	return [latitude, longitude] as const;
});

/** boundsOf returns the south-west and north-east corners of boxes of the map. */
export function boundsOf(boxes: readonly Outline['box'][]): [[number, number], [number, number]] | undefined {
	const left = Math.min(...boxes.map(([x]) => x));
	const bottom = Math.max(...boxes.map(([, y, , height]) => y + height));
	const right = Math.max(...boxes.map(([x, , width]) => x + width));
	const top = Math.min(...boxes.map(([, y]) => y));
	const [west, south] = project.invert?.([left, bottom]) ?? [];
	const [east, north] = project.invert?.([right, top]) ?? [];
	return boxes.length === 0 || west === undefined || south === undefined || east === undefined || north === undefined
		? undefined
		: [
				[south, west],
				[north, east],
			];
}

/** View is the visible part of the map. */
export interface View {
	x: number;
	y: number;
	/** zoom is the magnification: 1 shows all of India. */
	zoom: number;
}

/** whole shows all of India. */
export const whole: View = { x: 0, y: 0, zoom: 1 };

const most = 24;

/** within limits a view to the map. */
export function within(view: View): View {
	const zoom = Math.min(most, Math.max(1, view.zoom));
	const hold = (at: number, length: number) => Math.min(length - length / zoom, Math.max(0, at));
	return { x: hold(view.x, size.width), y: hold(view.y, size.height), zoom };
}

/** around returns the view centred on a point. */
export function around(x: number, y: number, zoom: number): View {
	const held = Math.min(most, Math.max(1, zoom));
	return within({ x: x - size.width / held / 2, y: y - size.height / held / 2, zoom: held });
}

/** zoomed multiplies the zoom of a view by a factor and keeps its centre. */
export function zoomed(view: View, factor: number): View {
	return around(view.x + size.width / view.zoom / 2, view.y + size.height / view.zoom / 2, view.zoom * factor);
}

/** Fraction is a point of the visible part: 0, 0 is its left top corner, and 1, 1 its right bottom corner. */
export interface Fraction {
	x: number;
	y: number;
}

/** pinched multiplies the zoom of a view by a factor. The place that was at a point is at another point afterwards. */
export function pinched(view: View, factor: number, from: Fraction, to: Fraction): View {
	const zoom = Math.min(most, Math.max(1, view.zoom * factor));
	return within({
		x: view.x + (from.x / view.zoom - to.x / zoom) * size.width,
		y: view.y + (from.y / view.zoom - to.y / zoom) * size.height,
		zoom,
	});
}

/** nearest returns the place whose mark is nearest to a point, at most a number of map units away. */
export function nearest<P extends { at: [number, number] | undefined }>(
	places: readonly P[],
	[x, y]: readonly [number, number],
	most: number,
): P | undefined {
	let [best, least]: [P | undefined, number] = [undefined, most];
	for (const place of places) {
		const away = place.at ? Math.hypot(place.at[0] - x, place.at[1] - y) : Number.POSITIVE_INFINITY;
		if (away <= least) {
			[best, least] = [place, away];
		}
	}
	return best;
}

/** moved shifts a view by fractions of its width and height. */
export function moved(view: View, right: number, down: number): View {
	return within({ ...view, x: view.x + (right * size.width) / view.zoom, y: view.y + (down * size.height) / view.zoom });
}

/** fitted returns the view that shows all boxes (left, top, width, height) with a margin. */
export function fitted(boxes: readonly (readonly [number, number, number, number])[]): View {
	if (boxes.length === 0) {
		return whole;
	}
	const left = Math.min(...boxes.map(([x]) => x));
	const top = Math.min(...boxes.map(([, y]) => y));
	const right = Math.max(...boxes.map(([x, , width]) => x + width));
	const bottom = Math.max(...boxes.map(([, y, , height]) => y + height));
	const room = 1.15;
	const zoom = Math.min(size.width / ((right - left) * room), size.height / ((bottom - top) * room));
	return around((left + right) / 2, (top + bottom) / 2, zoom);
}

/** opened returns a closer view of places, with all of them in it. It is at most four times as close. */
export function opened(view: View, places: readonly { at: Point | undefined }[]): View {
	const all = fitted(places.flatMap(({ at }) => (at ? [[at[0], at[1], 0, 0] as const] : [])));
	const zoom = Math.min(all.zoom, 4 * view.zoom);
	return around(all.x + size.width / all.zoom / 2, all.y + size.height / all.zoom / 2, zoom);
}
