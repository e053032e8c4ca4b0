import { expect, test } from 'vitest';
import { bandAt, bandOf, bands, figureOf, highest, toneOf } from './category';
import { cityPath, cityPlace, fresh, sorted } from './places';

test.each([
	[0, 'Good'],
	[50, 'Good'],
	[51, 'Satisfactory'],
	[100, 'Satisfactory'],
	[101, 'Moderate'],
	[200, 'Moderate'],
	[201, 'Poor'],
	[300, 'Poor'],
	[301, 'Very Poor'],
	[400, 'Very Poor'],
	[401, 'Severe'],
	[500, 'Severe'],
])('the category of index %i is %s', (index, word) => {
	expect(bandAt(index)?.word).toBe(word);
	expect(bandOf(word)).toBe(bandAt(index));
});

test('an unknown category and a missing index have no tone', () => {
	expect(toneOf(bandOf(null))).toBe('aqi-none');
	expect(toneOf(bandOf('Very Poor'))).toBe('aqi-very-poor');
	expect(bandAt(501)).toBeUndefined();
	expect(figureOf('nonsense')).toBe('aqi');
	expect(figureOf('co')).toBe('co');
});

test('bands change at the limits of the categories', () => {
	expect(highest.aqi).toEqual(bands.slice(0, 5).map((band) => band.to));
});

const city = (name: string, aqi: number | null, updated: string | null) =>
	cityPlace({
		name,
		city: name,
		state: 'S',
		aqi,
		category: aqi === null ? null : 'Good',
		updated,
		latitude: 22,
		longitude: 80,
		stations: 1,
	});
const places = [
	city('Pune', 40, '2026-11-20T01:30:00Z'),
	city('Agra', null, null),
	city('Delhi', 50, '2026-11-20T03:30:00Z'),
	city('Kochi', 40, '2026-11-20T02:30:00Z'),
];

test('places are sorted, and those without an index come last', () => {
	const names = (order: 'worst' | 'best' | 'name') => sorted(places, order, 'en-IN').map((place) => place.name);
	expect(names('worst')).toEqual(['Delhi', 'Kochi', 'Pune', 'Agra']);
	expect(names('best')).toEqual(['Kochi', 'Pune', 'Delhi', 'Agra']);
	expect(names('name')).toEqual(['Agra', 'Delhi', 'Kochi', 'Pune']);
});

test('fresh returns the oldest and the newest time of measurement', () => {
	expect(fresh(places)).toEqual({ oldest: '2026-11-20T01:30:00Z', newest: '2026-11-20T03:30:00Z' });
	expect(fresh([city('Agra', null, null)])).toBeUndefined();
});

test('the name of a city with its state becomes a path', () => {
	expect(cityPath('Aurangabad, Bihar')).toBe('/air/Aurangabad,%20Bihar');
	expect(cityPath('A/B')).toBe('/air/A%2FB');
});
