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
