import type { operations } from '../../made/schema';

/** SourceRow is a source as the API lists it. */
export type SourceRow = operations['listSources']['responses'][200]['content']['application/json']['data'][number];

/** Level is how complete an hour is; open if there is nothing to compare it with. */
export type Level = 'full' | 'some' | 'low' | 'none' | 'open';

/** Hour has the readings of an hour. */
export interface Hour {
	/** end is the end of the hour in Unix milliseconds. */
	end: number;
	count: number;
	/** share is the part of the usual count; undefined without enough days to compare. */
	share: number | undefined;
	level: Level;
}

// The limits equal the limits of the monitor in ingest/monitor/detect.go.
const low = 0.6;
const full = 0.8;
const leastDays = 3;
const leastUsual = 5;

/** limits are the shares, in per cent, below which an hour is low or not full. */
export const limits = { low: low * 100, full: full * 100 } as const;

const hourLength = 3_600_000;
const indianOffset = 5.5 * hourLength;

/** hoursOf compares each hour with the median of the same hour on the other days. The last hour has not ended yet. */
export function hoursOf(coverage: SourceRow['coverage']): Hour[] {
	const from = new Date(coverage.from).getTime();
	const last = coverage.hours.length - 1;
	return coverage.hours.map((count, i) => {
		const others = coverage.hours.filter((other, j) => j !== i && j % 24 === i % 24 && other > 0).sort((a, b) => a - b);
		const usual = others[Math.floor(others.length / 2)] ?? 0;
		const share = i < last && others.length >= leastDays && usual >= leastUsual ? count / usual : undefined;
		return { end: from + i * hourLength, count, share, level: levelOf(count, share) };
	});
}

function levelOf(count: number, share: number | undefined): Level {
	if (share === undefined) {
		return 'open';
	}
	if (count === 0) {
		return 'none';
	}
	return share < low ? 'low' : share < full ? 'some' : 'full';
}

/** Day has the hours of a day in India, from 0 to 23. Hours outside the coverage are undefined. */
export interface Day {
	date: string;
	hours: (Hour | undefined)[];
}

/** daysOf groups hours by the Indian day in which they begin. */
export function daysOf(hours: readonly Hour[]): Day[] {
	const days: Day[] = [];
	for (const one of hours) {
		const begin = new Date(one.end - hourLength + indianOffset);
		const date = begin.toISOString().slice(0, 10);
		let day = days.at(-1);
		if (day?.date !== date) {
			day = { date, hours: Array.from({ length: 24 }) };
			days.push(day);
		}
		day.hours[begin.getUTCHours()] = one;
	}
	return days;
}
