import { expect, test } from 'vitest';
import { type Area, clustered } from './clusters';
import type { Place } from './places';

const india: Area = [60, 0, 100, 40];

function placed(id: string, latitude: number, longitude: number, aqi: number | null, stale = false): Place {
	return {
		...{ id, name: id, state: '', city: id, aqi, category: null, updated: null, stale, at: undefined, position: [latitude, longitude] },
		...{ severity: 0, stations: undefined, source: undefined, kind: undefined, figures: undefined },
	};
}

const places = [
	placed('Delhi', 28.6, 77.2, 280),
	placed('Noida', 28.58, 77.33, 418),
	placed('Gurugram', 28.46, 77.03, 324),
	placed('Ghaziabad', 28.67, 77.43, 500, true),
	placed('Chennai', 13.1, 80.3, 104),
	{ ...placed('Nowhere', 0, 0, 99), position: undefined },
];

test('places close to each other are a group with the number of those that report, and the worst of these', () => {
	const { places: single, groups } = clustered(places)(india, 4);
	expect(single.map(({ id }) => id)).toEqual(['Chennai']);
	expect(groups.map(({ count, worst, stale }) => ({ count, worst: worst?.id, stale }))).toEqual([
		{ count: 3, worst: 'Noida', stale: false },
	]);
});

test('a group opens at the zoom that it names', () => {
	const marks = clustered(places);
	const [group] = marks(india, 4).groups;
	const opens = group?.opens ?? 0;
	expect(opens).toBeGreaterThan(4);
	expect(marks(india, opens).places.length).toBeGreaterThan(marks(india, opens - 1).places.length);
	expect(
		marks(india, 13)
			.places.map(({ id }) => id)
			.sort(),
	).toEqual(['Chennai', 'Delhi', 'Ghaziabad', 'Gurugram', 'Noida']);
});

test('places that do not report are part of the one that does, and are a group without a figure otherwise', () => {
	const silent = [placed('A', 20, 77, 300, true), placed('B', 20.01, 77.01, 400, true)];
	const mixed = clustered([...silent, placed('C', 20.02, 77.02, 50)])(india, 4);
	expect(mixed).toEqual({ places: [expect.objectContaining({ id: 'C' })], groups: [] });
	const { places: single, groups } = clustered(silent)(india, 4);
	expect(single).toEqual([]);
	expect(groups.map(({ count, worst, stale }) => ({ count, worst, stale }))).toEqual([{ count: 2, worst: undefined, stale: true }]);
});

test('an area shows its own places only', () => {
	expect(clustered(places)([79, 12, 82, 14], 8).places.map(({ id }) => id)).toEqual(['Chennai']);
});

test('no marks overlap at any zoom', () => {
	const many = Array.from({ length: 400 }, (_, i) =>
		placed(String(i), 8 + ((i * 7919) % 2400) / 100, 70 + ((i * 104_729) % 2500) / 100, i, i % 5 === 0),
	);
	// At zoom 4, B is 30 pixels from A, and C is 25 pixels beyond A. A is the place that the mark of A and B shows.
	const degrees = 360 / (256 * 2 ** 4);
	const aside = [placed('B', 20, 77, null, true), placed('A', 20, 77 + 30 * degrees, 90), placed('C', 20, 77 + 55 * degrees, 80)];
	const pixel = (latitude: number, longitude: number, zoom: number) => {
		const side = 256 * 2 ** zoom;
		return [(longitude / 360) * side, (Math.asinh(Math.tan((latitude * Math.PI) / 180)) / (2 * Math.PI)) * side] as const;
	};
	for (const zoom of [3.5, 4, 4.75, 5.25, 7]) {
		for (const all of [many, aside]) {
			const { places: single, groups } = clustered(all)(india, zoom);
			const marks = [
				...groups.map(({ at }) => ({ at: pixel(at.latitude, at.longitude, zoom), radius: 20 })),
				...single.map(({ position = [0, 0] }) => ({ at: pixel(position[0], position[1], zoom), radius: 17 })),
			];
			const over = marks.filter(({ at: [x, y], radius }, i) =>
				marks.slice(i + 1).some((other) => Math.hypot(other.at[0] - x, other.at[1] - y) < radius + other.radius),
			);
			expect(over).toEqual([]);
		}
	}
});
