import { expect, test } from 'vitest';
import { times } from './stamp';

const at = (text: string) => Date.parse(`${text}+05:30`) / 1000;

test('ticks of days name each day once, and the year where it begins', () => {
	const ticks = ['2026-12-30T00:00', '2026-12-30T12:00', '2026-12-31T00:00', '2027-01-01T00:00'].map(at);
	expect(times(ticks, 'day')).toEqual(['30 Dec\n2026', '', '31 Dec', '1 Jan\n2027']);
});

test('ticks of hours name each day once, at midnight or below its first hour', () => {
	expect(times(['2026-12-30T20:00', '2026-12-30T22:00', '2026-12-31T00:00', '2026-12-31T02:00'].map(at), 'hour')).toEqual([
		'20:00\n30 Dec',
		'22:00',
		'31 Dec\n2026',
		'02:00',
	]);
	expect(times(['2026-12-30T22:00', '2026-12-31T03:00'].map(at), 'hour')).toEqual(['22:00\n30 Dec', '03:00\n31 Dec']);
});
