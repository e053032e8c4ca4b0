import { expect, test } from 'vitest';
import { readingsOf } from './history';

test('the days of the readings of a station are those of India', () => {
	expect(readingsOf({ first_seen: '2026-03-31T18:29:59Z', last_seen: '2026-11-28T18:30:00Z' })).toEqual({
		first: '2026-03-31',
		last: '2026-11-29',
	});
});
