import { expect, test } from 'vitest';
import type { Schemas } from '../api/client';
import type { Place } from './places';
import { figuresOf, onScale, type Scaled, scaleOf, scales } from './scale';

const station = {
	id: 'a',
	name: 'A',
	aqi: 331,
	category: 'Very Poor',
	updated: '2026-11-20T08:30:00Z',
	stale: false,
	severity: 4,
} as Place;

const found: Scaled & { scale: Schemas['Scale'] } = {
	updated: '2026-11-20T09:30:00Z',
	scale: {
		...{ id: 'us', index: 113, category: 'Unhealthy for Sensitive Groups', color: '#FF7E00', dominant: 'PM2.5' },
		pollutants: { pm10: { index: 60.04, category: 'Moderate', value: 80, unit: 'µg/m³', averaging: 'nowcast' } },
	},
};

test('a station shows its index on another scale, or the index of a pollutant', () => {
	expect(onScale(station, 'us', 'aqi', found)).toMatchObject({
		...{ scale: 'us', aqi: 113, category: 'Unhealthy for Sensitive Groups', severity: 2, updated: '2026-11-20T09:30:00Z' },
	});
	expect(onScale(station, 'us', 'pm10', found)).toMatchObject({ aqi: 60, category: 'Moderate', severity: 1 });
	expect(onScale(station, 'us', 'so2', found)).toMatchObject({ aqi: null, category: null, severity: -1 });
});

test('a station without an index on the scale does not show that of India', () => {
	const none = { ...found, scale: { ...found.scale, index: null, category: null, dominant: null, pollutants: {} } };
	for (const one of [undefined, { updated: station.updated ?? '' }, none]) {
		expect(onScale(station, 'eu', 'aqi', one)).toMatchObject({ scale: 'eu', aqi: null, category: null, severity: -1 });
	}
	expect(onScale({ ...station, stale: true }, 'us', 'aqi', found)).toMatchObject({ severity: -1, updated: station.updated });
});

test('the address names a scale, and a pollutant has a unit on the Indian scale only', () => {
	expect(scales.map(({ id }) => scaleOf(id))).toEqual(['in', 'us', 'eu', 'who']);
	expect([scaleOf(undefined), scaleOf('usa')]).toEqual(['in', 'in']);
	expect(figuresOf('in', 'Index')[1]).toEqual(['pm25', 'PM2.5 (µg/m³)']);
	expect(figuresOf('who', 'Index')[1]).toEqual(['pm25', 'PM2.5']);
});
