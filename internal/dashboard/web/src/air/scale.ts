import type { Schemas } from '../api/client';
import type { Key } from '../i18n';
import { type Band, bandOf, bands, type Figure, pollutants } from './category';
import type { Place } from './places';

/** Scale is the id of an air quality index, as in the API. `in` is India's. */
export type Scale = Schemas['Scale']['id'];

/** scales are the scales of the map with their names and notes. India's index needs no note. */
export const scales: readonly { id: Scale; name: Key; note?: Key }[] = [
	{ id: 'in', name: 'air.scale.in' },
	{ id: 'us', name: 'air.scale.us', note: 'air.scale.us.note' },
	{ id: 'eu', name: 'air.scale.eu', note: 'air.scale.eu.note' },
	{ id: 'who', name: 'air.scale.who', note: 'air.scale.who.note' },
];

/** scaleOf reads a scale from the address. */
export function scaleOf(text: string | undefined): Scale {
	return scales.find(({ id }) => id === text)?.id ?? 'in';
}

/** others are the categories of the other scales, best first. Their words are those of the API. */
const others: Readonly<Record<Exclude<Scale, 'in'>, readonly Band[]>> = {
	us: [
		{ word: 'Good', token: 'us-1', name: 'air.good', range: '0–50' },
		{ word: 'Moderate', token: 'us-2', name: 'air.moderate', range: '51–100' },
		{ word: 'Unhealthy for Sensitive Groups', token: 'us-3', name: 'air.us.sensitive', range: '101–150' },
		{ word: 'Unhealthy', token: 'us-4', name: 'air.us.unhealthy', range: '151–200' },
		{ word: 'Very Unhealthy', token: 'us-5', name: 'air.us.very', range: '201–300' },
		{ word: 'Hazardous', token: 'us-6', name: 'air.us.hazardous', range: '> 300' },
	],
	eu: [
		{ word: 'Good', token: 'eu-1', name: 'air.good', range: '1' },
		{ word: 'Fair', token: 'eu-2', name: 'air.eu.fair', range: '2' },
		{ word: 'Moderate', token: 'eu-3', name: 'air.moderate', range: '3' },
		{ word: 'Poor', token: 'eu-4', name: 'air.poor', range: '4' },
		{ word: 'Very poor', token: 'eu-5', name: 'air.verypoor', range: '5' },
		{ word: 'Extremely poor', token: 'eu-6', name: 'air.eu.extremely', range: '6' },
	],
	// The guidelines have no colours, and the ratios of the interim targets differ by pollutant.
	who: [
		{ word: 'Guideline met', token: 'good', name: 'air.who.met', range: '≤ 1' },
		{ word: 'Interim target 4 met', token: 'satisfactory', name: 'air.who.4' },
		{ word: 'Interim target 3 met', token: 'moderate', name: 'air.who.3' },
		{ word: 'Interim target 2 met', token: 'poor', name: 'air.who.2' },
		{ word: 'Interim target 1 met', token: 'very-poor', name: 'air.who.1' },
		{ word: 'Above interim target 1', token: 'severe', name: 'air.who.above' },
	],
};

/** bandsOf returns the categories of a scale, best first. */
export function bandsOf(scale: Scale): readonly Band[] {
	return scale === 'in' ? bands : others[scale];
}

/** bandIn returns the category to which the API gives a word on a scale; undefined for any other word. */
export function bandIn(scale: Scale | undefined, word: string | null | undefined): Band | undefined {
	return scale === undefined || scale === 'in' ? bandOf(word) : others[scale].find((band) => band.word === word);
}

/** Scaled has the index of a station on a scale. updated is when its figures were measured. */
export interface Scaled {
	updated: string;
	scale?: Schemas['Scale'];
}

/** onScale returns a station with a figure of another scale: its index, or the index of a pollutant on that scale. */
export function onScale(one: Place, scale: Scale, figure: Figure, found: Scaled | undefined): Place {
	const part = figure === 'aqi' ? found?.scale : found?.scale?.pollutants[figure];
	const word = part?.category ?? null;
	const band = bandIn(scale, word);
	return {
		...one,
		...(found && !one.stale && { updated: found.updated }),
		scale,
		aqi: part?.index == null ? null : Math.round(part.index * 10) / 10,
		category: word,
		severity: one.stale || !band ? -1 : bandsOf(scale).indexOf(band),
	};
}

/** figuresOf returns the ids and names of what the map can show on a scale. Other scales have indices of pollutants. */
export function figuresOf(scale: Scale, index: string): (readonly [Figure, string])[] {
	return [['aqi', index], ...pollutants.map(({ id, name, unit }) => [id, scale === 'in' ? `${name} (${unit})` : name] as const)];
}
