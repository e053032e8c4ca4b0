import { before, today } from '../dates';
import { day } from '../format';
import { t } from '../i18n';
import { type Span, type Step, spans } from './series';

/** Period is a range of days in India, both included. */
export interface Period {
	from: string;
	to: string;
}

const dated = /^\d{4}-\d{2}-\d{2}$/;

/** longest is the greatest number of days of a period. The API answers a year in one call. */
const longest = 20 * 366;

/** mostHours is the greatest number of days whose hours a chart shows. */
export const mostHours = 366;

/** daysOf returns the number of days of a period. */
export function daysOf(period: Period): number {
	return Math.round((Date.parse(period.to) - Date.parse(period.from)) / 86_400_000) + 1;
}

function valid(date: string | undefined): string | undefined {
	return date && dated.test(date) && !Number.isNaN(Date.parse(date)) ? noLater(date) : undefined;
}

/** noLater returns a date, or today if the date is in the future. The API refuses a range that ends there. */
function noLater(date: string): string {
	const now = today(new Date());
	return date < now ? date : now;
}

/**
 * periodOf returns the days of a chart. A span ends on the chosen day, or today. The span "range" has days of its
 * own; without them it is the 30 days up to that day.
 */
export function periodOf(span: Span, range: { from?: string | undefined; to?: string | undefined }, date: string | undefined): Period {
	const chosen = valid(date);
	const last = chosen ?? today(new Date());
	if (span === 'range') {
		const [a, b] = [valid(range.from), valid(range.to)];
		const to = b ?? (a && a > last ? a : last);
		const from = a ?? before(to, 29);
		const [first, end] = from <= to ? [from, to] : [to, from];
		return { from: daysOf({ from: first, to: end }) > longest ? before(end, longest - 1) : first, to: end };
	}
	// The last 24 hours can begin yesterday. A chosen day has 24 hours of its own.
	const days = span === '24h' && chosen ? 1 : (spans.find(({ id }) => id === span)?.days ?? 2);
	return { from: before(last, days - 1), to: last };
}

/** nameOfPeriod returns the name of a span, or its days if it does not end today. */
export function nameOfPeriod(span: Span, period: Period): string {
	if (span !== 'range' && period.to === today(new Date())) {
		return t(`air.span.${span}`);
	}
	return period.from === period.to ? day(period.from) : `${day(period.from)} – ${day(period.to)}`;
}

/** ends returns the beginning and the end of the axis of a period, in seconds. */
export function ends(period: Period, step: Step): [number, number] {
	const first = Date.parse(`${period.from}T00:00:00+05:30`) / 1000;
	const last = Date.parse(`${period.to}T00:00:00+05:30`) / 1000;
	// A day is drawn at its beginning, an hour at its end.
	return step === 'day' ? [first, last] : [first, last + 86_400];
}

/** years returns the years from one date to another, the newest first. */
export function years(first: string, last: string): string[] {
	const [from, to] = [Number(first.slice(0, 4)), Number(last.slice(0, 4))];
	return Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => String(to - i));
}

/**
 * yearOf returns the days of a calendar: a year, or the 365 days up to today. The present year ends today, because the
 * API refuses a range that ends in the future.
 */
export function yearOf(year: string | undefined): Period {
	const now = today(new Date());
	if (!year || !/^\d{4}$/.test(year) || year > now.slice(0, 4)) {
		return { from: before(now, 364), to: now };
	}
	return { from: `${year}-01-01`, to: noLater(`${year}-12-31`) };
}
