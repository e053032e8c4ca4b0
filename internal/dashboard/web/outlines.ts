import { readFileSync } from 'node:fs';
import { type Point, pointOf } from './src/air/projection';

/** Outline is a state on the map of India: its shape and its bounding box, in units of the drawing. */
export interface Outline {
	name: string;
	path: string;
	/** box is left, top, width and height. */
	box: [number, number, number, number];
}

/** readRings reads lines of a state's name, a tab, and a ring of positions in thousandths of a degree, each relative to the one before. */
export function readRings(text: string): Map<string, Point[][]> {
	const states = new Map<string, Point[][]>();
	for (const line of text.split('\n')) {
		const [name = '', vertices] = line.split('\t');
		if (!vertices || line.startsWith('#')) {
			continue;
		}
		let [longitude, latitude] = [0, 0];
		const ring = vertices.split(' ').map((vertex): Point => {
			const [east = 0, north = 0] = vertex.split(',').map(Number);
			[longitude, latitude] = [longitude + east, latitude + north];
			return pointOf(latitude / 1000, longitude / 1000);
		});
		states.set(name, [...(states.get(name) ?? []), ring]);
	}
	return states;
}

/** pathOf writes rings as relative lines with one decimal, a tenth of a pixel. */
export function pathOf(rings: readonly Point[][]): string {
	let path = '';
	for (const ring of rings) {
		let last: Point | undefined;
		let line = '';
		for (const [x, y] of ring) {
			const at: Point = [Math.round(x * 10), Math.round(y * 10)];
			if (!last) {
				line = `M${at[0] / 10} ${at[1] / 10}l`;
			} else if (at[0] !== last[0] || at[1] !== last[1]) {
				line += `${(at[0] - last[0]) / 10} ${(at[1] - last[1]) / 10} `;
			}
			last = at;
		}
		// An island that is smaller than a tenth of a pixel is a dot.
		if (line.endsWith('l')) {
			line += '.1 0 0 .1';
		}
		path += `${line
			.trimEnd()
			.replace(/ -/g, '-')
			.replace(/(^|[ l-])0\./g, '$1.')}z`;
	}
	return path;
}

/** outlines returns the states of states.txt. Large states come first, so that a small one is drawn above its neighbours. */
export function outlines(): Outline[] {
	const size = (value: number) => Math.round(value * 10) / 10;
	return [...readRings(readFileSync(new URL('states.txt', import.meta.url), 'utf8'))]
		.map(([name, rings]): Outline => {
			const points = rings.flat();
			const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
			const [left, top] = [Math.min(...xs), Math.min(...ys)];
			return { name, path: pathOf(rings), box: [size(left), size(top), size(Math.max(...xs) - left), size(Math.max(...ys) - top)] };
		})
		.sort((one, other) => other.box[2] * other.box[3] - one.box[2] * one.box[3]);
}

/** indiaOutlines is the Vite plugin that provides `virtual:india`, a chunk that only the map loads. */
export function indiaOutlines(): { name: string; resolveId: (id: string) => string | undefined; load: (id: string) => string | undefined } {
	return {
		name: 'india-outlines',
		resolveId: (id) => (id === 'virtual:india' ? '\0virtual:india' : undefined),
		load: (id) => (id === '\0virtual:india' ? `export default ${JSON.stringify(outlines())};` : undefined),
	};
}
