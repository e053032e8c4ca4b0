import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { outlines, pathOf, readRings } from '../../outlines';
import { around, boundsOf, corners, fitted, moved, nearest, opened, pinched, place, size, whole, within, zoomed } from './projection';

const drawing = outlines();

/** Parses the path of a state, which has the commands M, l and z only. */
function ringsOf(path: string): [number, number][][] {
	return path
		.split('z')
		.filter(Boolean)
		.map((ring) => {
			let at: [number, number] = [0, 0];
			const numbers = (ring.match(/-?(\d*\.\d|\d+)/g) ?? []).map(Number);
			return Array.from({ length: numbers.length / 2 }, (_, i) => {
				at = [at[0] + (numbers[2 * i] ?? 0), at[1] + (numbers[2 * i + 1] ?? 0)];
				return at;
			});
		});
}

/** Returns the state that is drawn on top at a point. It counts the edges to the right of the point. */
function stateAt([x, y]: [number, number]): string | undefined {
	return drawing.findLast(({ path }) => {
		let inside = false;
		for (const ring of ringsOf(path)) {
			for (const [i, [ax, ay]] of ring.entries()) {
				const [bx, by] = ring[(i + 1) % ring.length] ?? [ax, ay];
				if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) {
					inside = !inside;
				}
			}
		}
		return inside;
	})?.name;
}

test.each([
	['Jaipur', 26.9124, 75.7873, 'Rajasthan'],
	['Nagpur', 21.1458, 79.0882, 'Maharashtra'],
	['Bengaluru', 12.9716, 77.5946, 'Karnataka'],
	['Guwahati', 26.1445, 91.7362, 'Assam'],
	['Bhopal', 23.2599, 77.4126, 'Madhya Pradesh'],
	['Lucknow', 26.8467, 80.9462, 'Uttar Pradesh'],
	['Madurai', 9.9252, 78.1198, 'Tamil Nadu'],
	['Shimla', 31.1048, 77.1734, 'Himachal Pradesh'],
	['Delhi', 28.6448, 77.1201, 'Delhi'],
	['Leh', 34.1526, 77.5771, 'Ladakh'],
	['Kargil', 34.5539, 76.1349, 'Ladakh'],
	['Gilgit', 35.9208, 74.3144, 'Ladakh'],
	['Skardu', 35.2971, 75.6333, 'Ladakh'],
	['Daulat Beg Oldi', 35.39, 77.93, 'Ladakh'],
	['Aksai Chin', 35.2, 79.3, 'Ladakh'],
	['the Shaksgam valley', 36.1, 76.6, 'Ladakh'],
	['Srinagar', 34.0837, 74.7973, 'Jammu and Kashmir'],
	['Muzaffarabad', 34.37, 73.4711, 'Jammu and Kashmir'],
	['Mirpur', 33.1484, 73.7519, 'Jammu and Kashmir'],
	['Jammu', 32.7266, 74.857, 'Jammu and Kashmir'],
	['Tawang', 27.5859, 91.8594, 'Arunachal Pradesh'],
	['Kibithu', 28.28, 97.01, 'Arunachal Pradesh'],
	['Hyderabad', 17.385, 78.4867, 'Telangana'],
	['Adilabad', 19.6641, 78.532, 'Telangana'],
	['Vijayawada', 16.5062, 80.648, 'Andhra Pradesh'],
	['Silvassa', 20.2763, 73.0083, 'Dadra and Nagar Haveli and Daman and Diu'],
	['Daman', 20.4283, 72.8397, 'Dadra and Nagar Haveli and Daman and Diu'],
	['Chandigarh', 30.7333, 76.7794, 'Chandigarh'],
	['Puducherry', 11.9416, 79.8083, 'Puducherry'],
	['Port Blair', 11.6683, 92.7378, 'Andaman and Nicobar Islands'],
	['Aizawl', 23.7271, 92.7176, 'Mizoram'],
])('%s lies in its state of the map', (_, latitude, longitude, state) => {
	const at = place(latitude, longitude);
	expect(at && stateAt(at)).toBe(state);
});

test('a position that is unknown or outside India is not on the map', () => {
	expect(place(null, 77)).toBeUndefined();
	expect(place(28, null)).toBeUndefined();
	expect(place(51.5, -0.1)).toBeUndefined();
});

test('the outlines are simplified, and each state keeps its bounding box', () => {
	expect(drawing).toHaveLength(36);
	expect(JSON.stringify(drawing).length).toBeLessThan(100_000);
	for (const { name, path, box } of drawing) {
		expect(path, name).toMatch(/^(M[\d.]+ [\d.]+l[-\d. ]*z)+$/);
		expect(box[2] * box[3], name).toBeGreaterThan(0);
	}
	expect(
		pathOf([
			[
				[1.04, 2],
				[1.01, 2.01],
				[1.52, 1],
			],
			[
				[5, 5],
				[5.01, 5],
			],
		]),
	).toBe('M1 2l.5-1zM5 5l.1 0 0 .1z');
});

test('no outline has a spur', () => {
	const angle = ([ax = 0, ay = 0]: readonly number[], [bx = 0, by = 0]: readonly number[], [cx = 0, cy = 0]: readonly number[]) => {
		const [first, second] = [Math.atan2(ay - by, ax - bx), Math.atan2(cy - by, cx - bx)];
		return Math.abs(((((second - first) * 180) / Math.PI + 540) % 360) - 180);
	};
	const rings = [...readRings(readFileSync(join(import.meta.dirname, '../../states.txt'), 'utf8')).values()].flat();
	for (const ring of rings.filter(({ length }) => length > 4)) {
		const sharp = ring.filter((at, i) => angle(ring.at(i - 1) ?? at, at, ring[(i + 1) % ring.length] ?? at) < 30); // the projection changes angles
		expect(sharp).toEqual([]);
	}
});

const gazetteer = readRings(readFileSync(join(import.meta.dirname, '../../../../../schema/gazetteer/states.txt'), 'utf8'));

test('the states are those of the gazetteer, whose names the API has', () => {
	expect(drawing.map(({ name }) => name).sort()).toEqual([...gazetteer.keys()].sort());
});

test('the map has the whole extent of India', () => {
	const all = [...gazetteer.values()].flat(2);
	const drawn = drawing.map(({ box }) => box);
	const ends = (xs: number[], ys: number[]) => [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
	const want = ends(
		all.map(([x]) => x),
		all.map(([, y]) => y),
	);
	const got = ends(
		drawn.flatMap(([x, , width]) => [x, x + width]),
		drawn.flatMap(([, y, , height]) => [y, y + height]),
	);
	for (const [i, end] of want.entries()) {
		expect(Math.abs((got[i] ?? 0) - end)).toBeLessThan(0.5);
	}
	expect(Math.min(...got)).toBeGreaterThanOrEqual(0);
	expect([(got[1] ?? 0) <= size.width, (got[3] ?? 0) <= size.height]).toEqual([true, true]);
});

test('a view stays inside the map and within the zoom limits', () => {
	expect(within({ x: -5, y: 9999, zoom: 2 })).toEqual({ x: 0, y: size.height / 2, zoom: 2 });
	expect(zoomed(whole, 0.1)).toEqual(whole);
	expect(zoomed(whole, 1000).zoom).toBe(24);
	expect(around(306, 348, 2)).toEqual({ x: 153, y: 174, zoom: 2 });
	expect(moved({ x: 153, y: 174, zoom: 2 }, 0.5, 0)).toEqual({ x: 306, y: 174, zoom: 2 });
	expect(fitted([])).toEqual(whole);
	const goa = fitted([[100, 500, 10, 20]]);
	expect(goa.x).toBeLessThan(100);
	expect(goa.x + size.width / goa.zoom).toBeGreaterThan(110);
});

test('a pinch keeps the place between the fingers', () => {
	const middle = { x: 0.5, y: 0.5 };
	expect(pinched(whole, 2, middle, middle)).toEqual(around(306, 348, 2));
	const view = { x: 100, y: 200, zoom: 4 };
	const next = pinched(view, 1.5, { x: 0.25, y: 0.75 }, { x: 0.5, y: 0.5 });
	expect(next.zoom).toBe(6);
	expect(next.x + (0.5 * size.width) / 6).toBeCloseTo(100 + (0.25 * size.width) / 4);
	expect(next.y + (0.5 * size.height) / 6).toBeCloseTo(200 + (0.75 * size.height) / 4);
	expect(pinched(view, 0.01, middle, middle)).toEqual(whole);
});

test('a tap beside marks means the nearest within reach', () => {
	const near = { at: [10, 10] as [number, number] };
	const far = { at: [30, 10] as [number, number] };
	const places = [far, near, { at: undefined }];
	expect(nearest(places, [15, 10], 20)).toBe(near);
	expect(nearest(places, [22, 10], 20)).toBe(far);
	expect(nearest(places, [80, 80], 20)).toBeUndefined();
});

test('the corners of the map are those of its projection', () => {
	const [[south, west] = [0, 0], [north, east] = [0, 0]] = corners;
	expect([south < 7, north > 37, west < 69, east > 97]).toEqual([true, true, true, true]);
	const [x, y] = place(south + 1e-6, west + 1e-6) ?? [-1, -1];
	expect([Math.round(x), Math.round(y)]).toEqual([0, size.height]);
});

test('the bounds of a state are in degrees', () => {
	const kerala = drawing.filter(({ name }) => name === 'Kerala').map(({ box }) => box);
	const [[south, west], [north, east]] = boundsOf(kerala) ?? [
		[0, 0],
		[0, 0],
	];
	// Thiruvananthapuram and Kasaragod are its ends.
	expect([south, north].map(Math.round)).toEqual([8, 13]);
	expect([west, east].map(Math.round)).toEqual([75, 77]);
	expect(boundsOf([])).toBeUndefined();
});

test('a closer view of places has all of them in it, and is at most four times as close', () => {
	const places = [{ at: [100, 100] as [number, number] }, { at: [110, 130] as [number, number] }, { at: undefined }];
	const { x, y, zoom } = opened(whole, places);
	expect(zoom).toBe(4);
	expect(x + size.width / zoom / 2).toBeCloseTo(105);
	expect(y + size.height / zoom / 2).toBeCloseTo(115);
	expect(opened(within({ x: 0, y: 0, zoom: 24 }), [{ at: [100, 100] }, { at: [100, 100] }]).zoom).toBe(24);
});
