import type { Schemas } from '../api/client';
import type { Figure } from './category';

/** Entry is an hour or day of a range. */
export type Entry = Schemas['Record'];

/** Step is the interval of an entry. */
export type Step = 'hour' | 'day';

const length: Readonly<Record<Step, number>> = { hour: 3600, day: 86_400 };

/**
 * moment returns the position of an entry on the axis, in seconds. It is the end of an hour, or the midnight in
 * India that begins a day.
 */
export function moment(entry: Entry): number {
	return Date.parse(entry.date ? `${entry.date}T00:00:00+05:30` : entry.updated) / 1000;
}

/** Line is one line of a chart: ascending times in seconds, and values. A null value is a gap. */
export interface Line {
	xs: number[];
	ys: (number | null)[];
}

/** line extracts a figure from entries. It inserts null where entries are missing, so that the chart shows a gap. */
export function line(entries: readonly Entry[], figure: Figure, step: Step): Line {
	const xs: number[] = [];
	const ys: (number | null)[] = [];
	const byTime = new Map(entries.map((entry) => [moment(entry), entry[figure]] as const));
	for (const x of [...byTime.keys()].sort((a, b) => a - b)) {
		const last = xs.at(-1);
		if (last !== undefined && x - last > length[step] * 1.5) {
			xs.push(last + length[step]);
			ys.push(null);
		}
		xs.push(x);
		ys.push(byTime.get(x) ?? null);
	}
	return { xs, ys };
}

/**
 * joined puts lines onto one common axis. A time that only another line has gets undefined, which the chart
 * bridges. A line's own gaps stay null.
 */
export function joined(lines: readonly Line[]): [number[], ...(number | null | undefined)[][]] {
	const xs = [...new Set(lines.flatMap((one) => one.xs))].sort((a, b) => a - b);
	const columns = lines.map((one) => {
		const at = new Map(one.xs.map((x, i) => [x, one.ys[i]] as const));
		return xs.map((x) => at.get(x));
	});
	return [xs, ...columns];
}

/** Span is the period of a chart; range has days of its own. */
export type Span = '24h' | '30d' | '1y' | 'range';

/** spans are the selectable periods. 24h fetches two days, because it can begin yesterday. */
export const spans: readonly { id: Span; days?: number }[] = [
	{ id: '24h', days: 2 },
	{ id: '30d', days: 30 },
	{ id: '1y', days: 365 },
	{ id: 'range' },
];

/** spanOf parses a parameter of the address. */
export function spanOf(text: string | null | undefined): Span {
	return spans.find(({ id }) => id === text)?.id ?? '24h';
}

/** stepOf parses the interval of a chart that covers a number of days. The default is hour up to 31 days. */
export function stepOf(text: string | null | undefined, span: Span, days: number): Step {
	return span === '24h' || days === 1 ? 'hour' : text === 'day' || text === 'hour' ? text : days > 31 ? 'day' : 'hour';
}

/**
 * framed extends a line by gaps up to both ends of the axis, so that the axis is the period and not the part of it
 * that has figures.
 */
export function framed(line: Line, first: number, last: number): Line {
	const { xs, ys } = line;
	const before = xs[0] === undefined || xs[0] > first;
	const after = (xs.at(-1) ?? Number.NEGATIVE_INFINITY) < last;
	return {
		xs: [...(before ? [first] : []), ...xs, ...(after ? [last] : [])],
		ys: [...(before ? [null] : []), ...ys, ...(after ? [null] : [])],
	};
}

/**
 * apart moves positions, which are ascending, until their distance is at least gap. None is beyond bottom, as long as there is
 * room.
 */
export function apart(ys: readonly number[], gap: number, bottom: number): number[] {
	const places: number[] = [];
	for (const y of ys) {
		places.push(Math.max(y, (places.at(-1) ?? Number.NEGATIVE_INFINITY) + gap));
	}
	return places.map((y, i) => Math.min(y, bottom - gap * (places.length - 1 - i)));
}

/** recent returns the last 24 hours of entries, counted from the newest. */
export function recent(entries: readonly Entry[]): readonly Entry[] {
	const last = Math.max(...entries.map(moment));
	return entries.filter((entry) => moment(entry) > last - 86_400);
}

/**
 * windows splits a range of dates (both included) into parts of at most `most` days, counted back from the last
 * day.
 */
export function windows(from: string, to: string, most: number): { from: string; to: string }[] {
	const day = 86_400_000;
	const text = (at: number) => new Date(at).toISOString().slice(0, 10);
	const first = Date.parse(from);
	const found: { from: string; to: string }[] = [];
	for (let last = Date.parse(to); last >= first; last -= most * day) {
		found.unshift({ from: text(Math.max(first, last - (most - 1) * day)), to: text(last) });
	}
	return found;
}
