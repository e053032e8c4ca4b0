import { expect, test } from 'vitest';
import { daysOf, hoursOf } from './coverage';

const from = '2026-11-11T09:30:00Z'; // the hour from 14:00 to 15:00 in India

function coverage(change: (hours: number[]) => void) {
	const hours = Array.from({ length: 168 }, () => 100);
	change(hours);
	return hoursOf({ from, hours });
}

test.each([
	['the usual count', 100, 'full', 1],
	['more than usual', 130, 'full', 1.3],
	['four fifths', 80, 'full', 0.8],
	['less than four fifths', 79, 'some', 0.79],
	['less than three fifths', 59, 'low', 0.59],
	['nothing', 0, 'none', 0],
])('%s of readings', (_, count, level, share) => {
	const hour = coverage((hours) => {
		hours[100] = count;
	})[100];
	expect(hour).toEqual({ end: Date.parse(from) + 100 * 3_600_000, count, share, level });
});

test('an hour is not compared with days without readings, nor with fewer than three days', () => {
	const silent = (days: readonly number[]) =>
		coverage((hours) => {
			for (const day of days) {
				hours[day * 24 + 4] = 0;
			}
		})[4];
	expect(silent([1, 2, 3])?.level).toBe('full');
	expect(silent([1, 2, 3, 4])?.level).toBe('open');
});

test('the last hour is not compared, because it has not ended', () => {
	expect(coverage(() => undefined)[167]?.level).toBe('open');
});

test('few readings are not compared', () => {
	expect(hoursOf({ from, hours: Array.from({ length: 168 }, () => 4) }).every(({ level }) => level === 'open')).toBe(true);
});

test('days are those of India, and hours begin at their number', () => {
	const days = daysOf(coverage(() => undefined));
	expect(days.map(({ date }) => date)).toEqual([11, 12, 13, 14, 15, 16, 17, 18].map((day) => `2026-11-${day}`));
	expect(days[0]?.hours.findIndex(Boolean)).toBe(14);
	expect(days[7]?.hours.filter(Boolean)).toHaveLength(14);
	expect(days[3]?.hours.every(Boolean)).toBe(true);
});
