import india from '@svg-maps/india';

/** Outline is a state on the map of India: its shape and its bounding box, in units of the drawing. */
export interface Outline {
	id: string;
	name: string;
	path: string;
	/** box is left, top, width and height. */
	box: [number, number, number, number];
}

type Point = [x: number, y: number];

/** rings parses the path commands m, l, L and z, the only ones in the drawing, into points. */
export function rings(path: string): Point[][] {
	const read: Point[][] = [];
	let at: Point = [0, 0];
	let start: Point = [0, 0];
	let ring: Point[] = [];
	for (const [, command = '', rest = ''] of path.matchAll(/([mMlLz])([^mMlLz]*)/g)) {
		if (command === 'z') {
			at = start;
			continue;
		}
		const numbers = (rest.match(/-?[\d.]+(?:e-?\d+)?/g) ?? []).map(Number);
		for (let i = 0; i + 1 < numbers.length; i += 2) {
			const [x, y] = [numbers[i] ?? 0, numbers[i + 1] ?? 0];
			at = command === command.toUpperCase() ? [x, y] : [at[0] + x, at[1] + y];
			if (i === 0 && command.toLowerCase() === 'm') {
				start = at;
				ring = [];
				read.push(ring);
			}
			ring.push(at);
		}
	}
	return read;
}

/** thin writes rings as relative lines with one decimal, a tenth of a pixel. */
export function thin(read: readonly Point[][]): string {
	let path = '';
	for (const ring of read) {
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
		// Drop islands that are smaller than a tenth of a pixel.
		if (line.endsWith('l')) {
			continue;
		}
		path += `${line
			.trimEnd()
			.replace(/ -/g, '-')
			.replace(/(^|[ l-])0\./g, '$1.')}z`;
	}
	return path;
}

/** outlines returns the states of @svg-maps/india with simplified shapes. */
export function outlines(): Outline[] {
	// The type declarations of @svg-maps/india are in another package, which is not installed.
	return (india.locations as readonly { id: string; name: string; path: string }[]).map(({ id, name, path }) => {
		const read = rings(path);
		const points = read.flat();
		const xs = points.map(([x]) => x);
		const ys = points.map(([, y]) => y);
		const [left, top] = [Math.min(...xs), Math.min(...ys)];
		const size = (value: number) => Math.round(value * 10) / 10;
		return { id, name, path: thin(read), box: [size(left), size(top), size(Math.max(...xs) - left), size(Math.max(...ys) - top)] };
	});
}

/** indiaOutlines is the Vite plugin that provides `virtual:india`, a chunk that only the map loads. */
export function indiaOutlines(): { name: string; resolveId: (id: string) => string | undefined; load: (id: string) => string | undefined } {
	return {
		name: 'india-outlines',
		resolveId: (id) => (id === 'virtual:india' ? '\0virtual:india' : undefined),
		load: (id) => (id === '\0virtual:india' ? `export default ${JSON.stringify(outlines())};` : undefined),
	};
}
