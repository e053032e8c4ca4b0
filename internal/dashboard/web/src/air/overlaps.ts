import type { Place } from './places';
import type { Point } from './projection';

/** Disc is the room that a mark needs: its middle in units of the map, and its radius in pixels of the screen. */
export interface Disc {
	at: Point;
	radius: number;
}

/** gap is the least distance between the edges of two marks, in pixels of the screen. */
const gap = 1;

/**
 * joinOverlaps joins marks so that no two overlap. unit is the number of map units per pixel of the screen. join returns the
 * mark that replaces an earlier and a later one.
 */
export function joinOverlaps<M extends Disc>(marks: readonly M[], unit: number, join: (earlier: M, later: M) => M): M[] {
	let before = marks;
	// A joined mark can be larger or at another position, so that it can overlap others.
	for (;;) {
		const after = joinOnce(before, unit, join);
		if (after.length === before.length) {
			return after;
		}
		before = after;
	}
}

/** joinOnce joins each mark with one of the earlier ones that it overlaps. */
function joinOnce<M extends Disc>(marks: readonly M[], unit: number, join: (earlier: M, later: M) => M): M[] {
	// Two marks that overlap are in the same cell of a grid, or in cells beside each other.
	const size = (2 * Math.max(0, ...marks.map(({ radius }) => radius)) + gap) * unit;
	const cells = new Map<string, number[]>();
	const kept: M[] = [];
	for (const mark of marks) {
		const [column, row] = [Math.floor(mark.at[0] / size), Math.floor(mark.at[1] / size)];
		const near = [-1, 0, 1].flatMap((x) => [-1, 0, 1].flatMap((y) => cells.get(`${column + x} ${row + y}`) ?? []));
		const index = near.find((i) => {
			const other = kept[i] ?? mark;
			return Math.hypot(other.at[0] - mark.at[0], other.at[1] - mark.at[1]) < (other.radius + mark.radius + gap) * unit;
		});
		const earlier = index === undefined ? undefined : kept[index];
		if (index !== undefined && earlier) {
			kept[index] = join(earlier, mark);
			continue;
		}
		const cell = `${column} ${row}`;
		cells.set(cell, [...(cells.get(cell) ?? []), kept.length]);
		kept.push(mark);
	}
	return kept;
}

/** Mark is what the simple map draws at a point: a place, or several places whose marks would overlap, the worst first. */
export interface Mark extends Disc {
	places: readonly Place[];
}

/** radiusOf returns the radius of the mark of a place. A large mark has space for its figure. */
function radiusOf(place: Place, large: boolean): number {
	// A mark without a colour needs a greater size to be seen.
	return large ? 12 : place.stale ? 6 : 4 + Math.max(0, place.severity) * 0.9;
}

/** grouped returns the marks of places, which are in the order of their severity. Places without a position have no mark. */
export function grouped(places: readonly Place[], unit: number, large: boolean): Mark[] {
	const single = places.flatMap((place) => (place.at ? [{ at: place.at, places: [place], radius: radiusOf(place, large) }] : []));
	return joinOverlaps<Mark>(single, unit, (earlier, later) => {
		const all = [...earlier.places, ...later.places];
		// The mark has space for the number of places.
		return { at: earlier.at, places: all, radius: (large ? 10 : 8) + 3 * String(all.length).length };
	});
}
