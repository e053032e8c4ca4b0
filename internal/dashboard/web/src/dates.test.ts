import { expect, test } from 'vitest';
import { before, range, today } from './dates';

test('a day begins at midnight in India', () => {
	expect(today(new Date('2026-11-21T18:29:59Z'))).toBe('2026-11-21');
	expect(today(new Date('2026-11-21T18:30:00Z'))).toBe('2026-11-22');
	expect([before('2026-03-01', 1), before('2026-12-31', -1)]).toEqual(['2026-02-28', '2027-01-01']);
});

test('a range of days in India includes the whole last day', () => {
	expect(range({ from: '2026-11-01', to: '2026-11-30' })).toEqual({ from: '2026-11-01T00:00:00+05:30', to: '2026-12-01T00:00:00+05:30' });
	expect(range({ from: '', to: undefined })).toEqual({});
	expect(range({ from: 'yesterday' })).toEqual({ from: 'yesterday' });
});
