import { locale } from '../i18n';
import type { Step } from './series';

const zone = 'Asia/Kolkata';

const made = new Map<string, Intl.DateTimeFormat>();

/** stamp formats a time of a chart, given in seconds: a day, or an hour in India. */
export function stamp(x: number, step: Step): string {
	const name = `${step} ${locale.value}`;
	// Creating a formatter is slower than using it, and a year has 8,760 hours.
	const format =
		made.get(name) ??
		new Intl.DateTimeFormat(locale.value, { dateStyle: 'medium', ...(step === 'hour' && { timeStyle: 'short' }), timeZone: zone });
	made.set(name, format);
	return format.format(new Date(x * 1000));
}

/**
 * times writes the ticks of an axis: hours, or dates at midnight and for days. The year stands below the first tick
 * and below each tick that begins another year.
 */
export function times(ticks: readonly number[], step: Step): string[] {
	const write = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale.value, { ...options, timeZone: zone });
	const date = write({ day: 'numeric', month: 'short' });
	const year = write({ year: 'numeric' });
	const hour = write({ hour: '2-digit', minute: '2-digit', hour12: false });
	let last = '';
	let written = '';
	return ticks.map((tick) => {
		const at = new Date(tick * 1000);
		const text = step === 'day' || (tick + 19_800) % 86_400 === 0 ? date.format(at) : hour.format(at);
		// A chart of few days has several ticks in a day. Only the first names it.
		if (step === 'day' && text === written) {
			return '';
		}
		written = text;
		const of = year.format(at);
		const named = of === last ? text : `${text}\n${of}`;
		last = of;
		return named;
	});
}
