import type { Schemas } from '../api/client';
import type { Key } from '../i18n';

/** Category is the name of a category, as in the API. */
export type Category = Schemas['Category'];

/** Pollutant is a field of a record that contains a concentration. */
export type Pollutant = 'pm25' | 'pm10' | 'no2' | 'so2' | 'co' | 'o3';

/** Figure is what a chart can show: the index or a pollutant. */
export type Figure = 'aqi' | Pollutant;

/** Band is a category of a scale. token is the suffix of its CSS colours, and range its indices as a text. */
export interface Band {
	word: string;
	token: string;
	name: Key;
	range?: string;
}

/** IndianBand is a category of India's index with its lowest and its highest index. */
export interface IndianBand extends Band {
	word: Category;
	from: number;
	to: number;
}

/** bands are CPCB's six categories (National Air Quality Index, 2014), best first. */
export const bands: readonly IndianBand[] = [
	{ word: 'Good', from: 0, to: 50, token: 'good', name: 'air.good' },
	{ word: 'Satisfactory', from: 51, to: 100, token: 'satisfactory', name: 'air.satisfactory' },
	{ word: 'Moderate', from: 101, to: 200, token: 'moderate', name: 'air.moderate' },
	{ word: 'Poor', from: 201, to: 300, token: 'poor', name: 'air.poor' },
	{ word: 'Very Poor', from: 301, to: 400, token: 'very-poor', name: 'air.verypoor' },
	{ word: 'Severe', from: 401, to: 500, token: 'severe', name: 'air.severe' },
];

/** notReporting is the filter of the places that have no current figures. */
export const notReporting = 'none';

/** bandOf returns the band of a category; undefined for other values. */
export function bandOf(word: string | null | undefined): IndianBand | undefined {
	return bands.find((band) => band.word === word);
}

/** bandAt returns the band of an index or sub-index. The API returns no category for sub-indices. */
export function bandAt(index: number): IndianBand | undefined {
	return bands.find((band) => index >= band.from && index <= band.to);
}

/** toneOf returns the CSS class with the colours of a category. */
export function toneOf(band: Band | undefined): string {
	return `aqi-${band?.token ?? 'none'}`;
}

/** pollutants are the six pollutants of every record, with display names and units. */
export const pollutants: readonly { id: Pollutant; name: string; unit: string }[] = [
	{ id: 'pm25', name: 'PM2.5', unit: 'µg/m³' },
	{ id: 'pm10', name: 'PM10', unit: 'µg/m³' },
	{ id: 'no2', name: 'NO₂', unit: 'µg/m³' },
	{ id: 'so2', name: 'SO₂', unit: 'µg/m³' },
	{ id: 'co', name: 'CO', unit: 'mg/m³' },
	{ id: 'o3', name: 'O₃', unit: 'µg/m³' },
];

/** figureOf parses a parameter of the address. The default is the index. */
export function figureOf(text: string | null): Figure {
	return pollutants.find(({ id }) => id === text)?.id ?? 'aqi';
}

/**
 * highest are the upper limits of the bands, for the index and for each concentration in its unit. Values above
 * the last limit are Severe.
 */
export const highest: Readonly<Record<Figure, readonly number[]>> = {
	aqi: [50, 100, 200, 300, 400],
	pm25: [30, 60, 90, 120, 250],
	pm10: [50, 100, 250, 350, 430],
	no2: [40, 80, 180, 280, 400],
	so2: [40, 80, 380, 800, 1600],
	co: [1, 2, 10, 17, 34],
	o3: [50, 100, 168, 208, 748],
};
