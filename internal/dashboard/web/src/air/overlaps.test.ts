import { expect, test } from 'vitest';
import { grouped } from './overlaps';
import { cityPlace, type Place } from './places';

/** at returns a place at a point of the map. */
function at(name: string, x: number, y: number): Place {
	const city = {
		...{ name, city: name, state: '', aqi: 100, category: 'Moderate' as const, updated: '2026-11-20T00:00:00Z', stale: false },
		...{ age_hours: 0, latitude: null, longitude: null, stations: 1, first_day: '2026-11-20', last_day: '2026-11-20' },
	};
	return { ...cityPlace(city), at: [x, y] };
}

const names = (places: readonly Place[], unit = 1) => grouped(places, unit, true).map((mark) => mark.places.map(({ name }) => name).join());

test('places whose marks would overlap share a mark at the first of them', () => {
	const places = [at('Thane', 100, 100), at('Mumbai', 96, 112), at('Pune', 160, 150)];
	expect(names(places)).toEqual(['Thane,Mumbai', 'Pune']);
	expect(grouped(places, 1, true)[0]?.at).toEqual([100, 100]);
});

test('a closer view separates them', () => {
	expect(names([at('Thane', 100, 100), at('Mumbai', 96, 112)], 0.25)).toEqual(['Thane', 'Mumbai']);
});

test('a place without a position has no mark', () => {
	expect(grouped([{ ...at('Nowhere', 0, 0), at: undefined }], 1, false)).toEqual([]);
});

test('no marks of many places overlap, and each place has one', () => {
	const places = Array.from({ length: 2000 }, (_, i) => at(String(i), (i * 7919) % 612, (i * 104_729) % 696));
	for (const large of [false, true]) {
		const marks = grouped(places, 1, large);
		const over = marks.flatMap((one, i) =>
			marks.slice(i + 1).filter((other) => Math.hypot(one.at[0] - other.at[0], one.at[1] - other.at[1]) < one.radius + other.radius),
		);
		expect(over).toEqual([]);
		expect(marks.flatMap((mark) => mark.places.map(({ id }) => id)).sort()).toEqual(places.map(({ id }) => id).sort());
	}
});
