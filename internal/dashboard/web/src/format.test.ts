import { afterEach, expect, test } from 'vitest';
import { stamp, times } from './air/stamp';
import { ago, day, hour, hundredths, instant, percent, signed, tenths } from './format';
import { zone } from './zone';

afterEach(() => {
	zone.value = 'Asia/Kolkata';
});

const at = '2026-11-21T20:30:05Z';

test('times are those of India, with the name of the zone', () => {
	expect(instant(at)).toBe('22 Nov 2026, 2:00:05 am IST');
	expect(hour(at)).toBe('22 Nov 2026, 2:00 am IST');
});

test('times can be shown in UTC, and days stay those of India', () => {
	zone.value = 'UTC';
	expect(instant(at)).toBe('21 Nov 2026, 8:30:05 pm UTC');
	expect(hour(at)).toBe('21 Nov 2026, 8:30 pm UTC');
	expect(day('2026-11-22')).toBe('22 Nov 2026');
});

test('charts of hours follow the zone, and charts of days do not', () => {
	const midnight = Date.parse('2026-11-22T00:00:00+05:30') / 1000;
	expect(stamp(midnight, 'hour')).toBe('22 Nov 2026, 12:00 am');
	zone.value = 'UTC';
	expect(stamp(midnight, 'hour')).toBe('21 Nov 2026, 6:30 pm');
	expect(stamp(midnight, 'day')).toBe('22 Nov 2026');
	expect(times([midnight], 'day')).toEqual(['22 Nov\n2026']);
	expect(times([midnight, midnight + 19_800], 'hour')).toEqual(['18:30\n21 Nov', '22 Nov\n2026']);
});

test.each([
	[0, 1000, '0.0'],
	[1, 10_000, '< 0.1'],
	[19, 1000, '1.9'],
	[9999, 10_000, '99.9'],
	[1000, 1000, '100.0'],
])('%i of %i is a share of %s per cent', (part, whole, text) => {
	expect(percent(part, whole)).toBe(text);
});

test.each([
	[-7_199_000, '1 hour ago'],
	[42_000, 'in 42 seconds'],
	[1_242_000, 'in 21 minutes'],
	[28_799_000, 'in 8 hours'],
	[28_740_000, 'in 8 hours'],
])('%i ms from now are %s', (ms, text) => {
	expect(ago(new Date(1_800_000_000_000 + ms).toISOString(), new Date(1_800_000_000_000))).toBe(text);
});

test('tenths are kept', () => {
	expect(tenths(5)).toBe('5.0');
});

test('concentrations have two decimals or more', () => {
	expect([2.7, 0.87, 12, 1234.5678].map(hundredths)).toEqual(['2.70', '0.87', '12.00', '1,234.5678']);
});

test('differences have a sign', () => {
	expect([-29, 0.04, 7.25].map(signed)).toEqual(['−29.0', '0.0', '+7.3']);
});
