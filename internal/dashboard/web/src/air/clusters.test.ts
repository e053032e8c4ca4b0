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

test('places close to each other are a group with its number and its worst place', () => {
	const { places: single, groups } = clustered(places)(india, 4);
	expect(single.map(({ id }) => id)).toEqual(['Chennai', 'Ghaziabad']);
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

test('places that do not report have groups of their own, without a figure', () => {
	const silent = [placed('A', 20, 77, 300, true), placed('B', 20.01, 77.01, 400, true), placed('C', 20.02, 77.02, 50)];
	const { places: single, groups } = clustered(silent)(india, 4);
	expect(single.map(({ id }) => id)).toEqual(['C']);
	expect(groups.map(({ count, worst, stale }) => ({ count, worst, stale }))).toEqual([{ count: 2, worst: undefined, stale: true }]);
});

test('an area shows its own places only', () => {
	expect(clustered(places)([79, 12, 82, 14], 8).places.map(({ id }) => id)).toEqual(['Chennai']);
});
