import { expect, test } from 'vitest';
import { before, today } from '../dates';
import { daysOf, ends, periodOf, yearOf, years } from './period';

const now = today(new Date());

test.each([
	['24h', {}, undefined, { from: before(now, 1), to: now }],
	['1y', {}, undefined, { from: before(now, 364), to: now }],
	['24h', {}, '2016-11-05', { from: '2016-11-05', to: '2016-11-05' }],
	['30d', {}, '2016-11-05', { from: '2016-10-07', to: '2016-11-05' }],
	['range', { from: '2015-01-01', to: '2019-12-31' }, undefined, { from: '2015-01-01', to: '2019-12-31' }],
	['range', { from: '2019-12-31', to: '2015-01-01' }, undefined, { from: '2015-01-01', to: '2019-12-31' }],
	['range', { from: '2016-10-01' }, '2016-11-05', { from: '2016-10-01', to: '2016-11-05' }],
	['range', { to: '2016-11-30' }, undefined, { from: '2016-11-01', to: '2016-11-30' }],
	['range', { from: '2016-11-01', to: '2999-01-01' }, undefined, { from: '2016-11-01', to: now }],
	['range', { from: 'x', to: '2016-13-45' }, '2016-11-05', { from: '2016-10-07', to: '2016-11-05' }],
] as const)('the span %s of %o on %s', (span, range, date, want) => {
	expect(periodOf(span, range, date)).toEqual(want);
});

test('a period has at most twenty years', () => {
	expect(daysOf(periodOf('range', { from: '0001-01-01', to: '2020-01-01' }, undefined))).toBe(20 * 366);
});

test('the axis of days begins with the first day, that of hours ends with the last hour', () => {
	const period = { from: '2026-11-19', to: '2026-11-20' };
	expect(ends(period, 'day').map((x) => new Date(x * 1000).toISOString())).toEqual([
		'2026-11-18T18:30:00.000Z',
		'2026-11-19T18:30:00.000Z',
	]);
	expect(ends(period, 'hour').map((x) => new Date(x * 1000).toISOString())).toEqual([
		'2026-11-18T18:30:00.000Z',
		'2026-11-20T18:30:00.000Z',
	]);
});

test('the years of a place are listed, the newest first', () => {
	expect(years('2015-07-09', '2018-01-01')).toEqual(['2018', '2017', '2016', '2015']);
	expect(yearOf('2016')).toEqual({ from: '2016-01-01', to: '2016-12-31' });
	expect(yearOf(now.slice(0, 4))).toEqual({ from: `${now.slice(0, 4)}-01-01`, to: now });
	expect(yearOf('9999')).toEqual({ from: before(now, 364), to: now });
	expect(yearOf('x')).toEqual({ from: before(now, 364), to: now });
});
