import { expect, test } from 'vitest';
import { type Alert, bodyOf, changesOf, comparisons, type Draft, draftOf, newDraft } from './draft';

const draft = (change: Partial<Draft>): Draft => ({ ...newDraft({ city: 'Delhi' }, 'en'), ...change });

const alert: Alert = {
	id: 'alt_01KAJ0F4A6C8E0G2J4K6M8N0P2',
	name: 'Winter',
	place: { city: 'Delhi', state: 'Delhi', name: 'Delhi' },
	condition: { metric: 'aqi', over: 300 },
	hysteresis: 10,
	minimum_interval: 21600,
	quiet_hours: { from: '22:00', to: '07:00' },
	language: 'en',
	active: true,
	mode: 'sandbox',
	state: 'ok',
	changed_at: null,
	triggered_at: null,
	created_at: '2026-11-20T10:00:00Z',
	updated_at: '2026-11-20T10:00:00Z',
};

test.each([
	[{ kind: 'city', city: ' Pune ' }, { city: 'Pune' }],
	[{ kind: 'pincode', pincode: '411004' }, { pincode: '411004' }],
	[
		{ kind: 'position', lat: '18.52', lon: '-73' },
		{ lat: 18.52, lon: -73 },
	],
	[
		{ kind: 'position', lat: 'north', lon: '' },
		{ lat: 'north', lon: '' },
	],
	[{ kind: 'station', station: 'cpcb-1' }, { station: 'cpcb-1' }],
] satisfies [Partial<Draft>, object][])('the place of %j', (change, place) => {
	expect(bodyOf(draft(change)).place).toEqual(place);
});

test.each([{ city: 'Pune' }, { pincode: '411004' }, { station: 'cpcb-1' }])('a new alert for %j has this place', (place) => {
	expect(bodyOf(newDraft(place, 'en')).place).toEqual(place);
});

test.each([
	[{}, { metric: 'aqi', over: 300 }],
	[
		{ metric: 'pm25', comparison: 'under', limit: '12.5' },
		{ metric: 'pm25', under: 12.5 },
	],
	[{ limit: 'many' }, { metric: 'aqi', over: 'many' }],
	[
		{ metric: 'category', level: 'Severe' },
		{ metric: 'category', over: 'Severe' },
	],
	[
		{ metric: 'grap_band', comparison: 'change', direction: 'worse' },
		{ metric: 'grap_band', change: 'worse' },
	],
	[
		{ metric: 'co', comparison: 'change' },
		{ metric: 'co', over: 300 },
	],
	[
		{ metric: 'forecast', limit: '0.6', level: 'Severe', day: '2' },
		{ metric: 'forecast', over: 0.6, category: 'Severe', day: 2 },
	],
] satisfies [Partial<Draft>, object][])('the condition of %j', (change, condition) => {
	expect(bodyOf(draft(change)).condition).toEqual(condition);
});

test('only levels have changes', () => {
	expect(comparisons('category')).toContain('change');
	expect(comparisons('aqi')).not.toContain('change');
});

test('a form that was not changed changes nothing', () => {
	const conditions: Alert['condition'][] = [
		alert.condition,
		{ metric: 'category', under: 'Good' },
		{ metric: 'grap_band', change: 'better' },
		{ metric: 'forecast', over: 0.5, category: 'Very Poor', day: 3 },
	];
	const places: Alert['place'][] = [
		alert.place,
		{ pincode: '411004', name: 'Pune' },
		{ lat: 0, lon: 73.85, name: 'Pune' },
		{ station: 's-1', name: 'Pune' },
	];
	for (const condition of conditions) {
		for (const place of places) {
			const one = { ...alert, condition, place };
			expect(changesOf(one, draftOf(one))).toEqual({});
		}
	}
});

test('a changed form has only what differs', () => {
	const changed = { ...draftOf(alert), name: 'Summer', hysteresis: '', interval: '6h', quiet: false };
	expect(changesOf(alert, changed)).toEqual({ name: 'Summer', hysteresis: 0, minimum_interval: '6h', quiet_hours: null });
});
