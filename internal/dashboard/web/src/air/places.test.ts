import { expect, test } from 'vitest';
import { bandAt, bandOf, bands, figureOf, highest, toneOf } from './category';
import { aged, cityPath, cityPlace, fresh, groupOf, showing, sorted, stationPlace } from './places';

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

const city = (name: string, aqi: number | null, updated: string | null, stale = false) =>
	cityPlace({
		name,
		city: name,
		state: 'S',
		aqi,
		category: aqi === null ? null : 'Good',
		updated,
		stale,
		age_hours: 0,
		latitude: 22,
		longitude: 80,
		stations: 1,
		first_day: '2026-11-20',
		last_day: '2026-11-20',
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

test('places that do not report have no rank, no category and no influence on the newest and oldest time', () => {
	const now = new Date('2026-11-20T04:00:00Z');
	const known = aged([city('Ambala', 500, '2015-07-10T03:30:00Z', true), ...places.slice(0, 1), city('Bilaspur', 499, null, true)], now);
	expect(sorted(known, 'worst', 'en-IN').map((place) => `${place.name} ${groupOf(place)} ${place.severity}`)).toEqual([
		'Pune Good 0',
		'Ambala none -1',
		'Bilaspur none -1',
	]);
	expect(sorted(known, 'best', 'en-IN')[0]?.name).toBe('Pune');
	expect(fresh(known)).toEqual({ oldest: '2026-11-20T01:30:00Z', newest: '2026-11-20T01:30:00Z' });
});

test('figures become stale on a page that stays open', () => {
	const [pune] = aged(places, new Date('2026-11-20T04:31:00Z'));
	expect(pune?.stale).toBe(true);
});

test('the name of a city with its state becomes a path', () => {
	expect(cityPath('Aurangabad, Bihar')).toBe('/air/Aurangabad,%20Bihar');
	expect(cityPath('A/B')).toBe('/air/A%2FB');
});

test('a concentration replaces the index of a station, with its category', () => {
	const station = stationPlace({
		...{ id: 's', name: 'S', city: 'Delhi', state: 'Delhi', latitude: 28.6, longitude: 77.2, kind: 'reference', source: 'cpcb' },
		...{ attribution: 'CPCB', licence: 'x', first_seen: '2026-01-01T00:00:00Z', last_seen: '2026-01-01T00:00:00Z' },
		...{ aqi: 300, category: 'Poor', pm25: 90.5, pm10: null, no2: 40, so2: 1700, co: 1, o3: 1, dominant: 'PM2.5', sub_indices: {} },
		...{ updated: '2026-01-01T00:00:00Z', stale: false, age_hours: 0 },
	} as Parameters<typeof stationPlace>[0]);
	const shown = (figure: Parameters<typeof showing>[1]) => {
		const { aqi, category, severity } = showing(station, figure);
		return [aqi, category, severity];
	};
	expect(shown('aqi')).toEqual([300, 'Poor', 3]);
	expect(shown('pm25')).toEqual([90.5, 'Poor', 3]);
	expect(shown('no2')).toEqual([40, 'Good', 0]);
	expect(shown('so2')).toEqual([1700, 'Severe', 5]);
	expect(shown('pm10')).toEqual([null, null, -1]);
	expect(station.position).toEqual([28.6, 77.2]);
});
