import { language, locale } from './i18n';
import { zone, zoneName } from './zone';

// Cached formatters. Creating one costs as much as a hundred uses, and a table uses many.
const made = new Map<string, Format>();

type Format = Intl.NumberFormat | Intl.DateTimeFormat | Intl.RelativeTimeFormat;

function kept<T extends Format>(kind: string, make: () => T): T {
	const name = `${kind} ${locale.value} ${zone.value}`;
	const old = made.get(name) as T | undefined;
	if (old) {
		return old;
	}
	const format = make();
	made.set(name, format);
	return format;
}

/** number formats a figure with Indian grouping and without rounding. */
export function number(value: number): string {
	return kept('number', () => new Intl.NumberFormat(locale.value, { maximumFractionDigits: 20 })).format(value);
}

/** tenths formats a figure with one decimal. */
export function tenths(value: number): string {
	const options = { minimumFractionDigits: 1, maximumFractionDigits: 1 };
	return kept('tenths', () => new Intl.NumberFormat(locale.value, options)).format(value);
}

/** signed formats a difference with one decimal and its sign. */
export function signed(value: number): string {
	const options = { minimumFractionDigits: 1, maximumFractionDigits: 1, signDisplay: 'exceptZero' } as const;
	return kept('signed', () => new Intl.NumberFormat(locale.value, options))
		.format(value)
		.replace('-', '−');
}

/** hundredths formats a concentration with two decimals or more, so that those of a column have their points below each other. */
export function hundredths(value: number): string {
	const options = { minimumFractionDigits: 2, maximumFractionDigits: 20 };
	return kept('hundredths', () => new Intl.NumberFormat(locale.value, options)).format(value);
}

/** percent formats a part of a whole in per cent, with one decimal. A small part is not shown as zero. */
export function percent(part: number, whole: number): string {
	const share = Math.floor((part * 1000) / whole) / 10;
	return part > 0 && share === 0 ? `< ${tenths(0.1)}` : tenths(share);
}

/** days formats a number of days with its unit. */
export function days(value: number): string {
	return kept('days', () => new Intl.NumberFormat(locale.value, { style: 'unit', unit: 'day', unitDisplay: 'long' })).format(value);
}

/** rupees formats an amount of money, always with its paise. */
export function rupees(value: number): string {
	return kept('rupees', () => new Intl.NumberFormat(locale.value, { style: 'currency', currency: 'INR' })).format(value);
}

/** zoned formats a time in the zone of the page, with the name of the zone. */
function zoned(at: string, timeStyle: 'medium' | 'short'): string {
	const make = () => new Intl.DateTimeFormat(locale.value, { ...timeOptions(timeStyle), timeZone: zone.value });
	return `${kept(timeStyle, make).format(new Date(at))} ${zoneName.value}`;
}

/** timeOptions returns the options of a date with a time. Hindi names the part of the day, and has no am and pm. */
export function timeOptions(timeStyle: 'medium' | 'short'): Intl.DateTimeFormatOptions {
	if (language.value !== 'hi') {
		return { dateStyle: 'medium', timeStyle };
	}
	return {
		...{ day: 'numeric', month: 'short', year: 'numeric', dayPeriod: 'short', hour: 'numeric', minute: '2-digit' },
		...(timeStyle === 'medium' && { second: '2-digit' }),
	};
}

/** instant formats a time of the API (RFC 3339) as date and time. */
export function instant(at: string): string {
	return zoned(at, 'medium');
}

/** hour formats a time as date, hour and minute. */
export function hour(at: string): string {
	return zoned(at, 'short');
}

/** day formats a date of the API (2026-11-21). */
export function day(date: string): string {
	return kept('day', () => new Intl.DateTimeFormat(locale.value, { dateStyle: 'medium', timeZone: 'UTC' })).format(
		new Date(`${date}T00:00:00Z`),
	);
}

/** weekday formats a date of the API with its day of the week, and without its year. */
export function weekday(date: string): string {
	const options = { weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' } as const;
	return kept('weekday', () => new Intl.DateTimeFormat(locale.value, options)).format(new Date(`${date}T00:00:00Z`));
}

/** dayOfMonth formats a date of the API without its year. */
export function dayOfMonth(date: string): string {
	return kept('dayOfMonth', () => new Intl.DateTimeFormat(locale.value, { day: 'numeric', month: 'short', timeZone: 'UTC' })).format(
		new Date(`${date}T00:00:00Z`),
	);
}

const steps: readonly [Intl.RelativeTimeFormatUnit, number][] = [
	['day', 86_400],
	['hour', 3_600],
	['minute', 60],
	['second', 1],
];

/**
 * ago formats the distance between a time and now in its largest unit. A time ahead is rounded: what ends in 7 hours and 59
 * minutes ends in 8 hours.
 */
export function ago(at: string, now: Date): string {
	const exact = Math.round((new Date(at).getTime() - now.getTime()) / 1000);
	const seconds = exact > 60 ? Math.round(exact / 60) * 60 : exact;
	const [unit, size] = steps.find(([, size]) => Math.abs(seconds) >= size) ?? (['second', 1] as const);
	const format = kept('ago', () => new Intl.RelativeTimeFormat(locale.value, { numeric: 'auto' }));
	return format.format(seconds > 0 ? Math.round(seconds / size) : Math.trunc(seconds / size), unit);
}
