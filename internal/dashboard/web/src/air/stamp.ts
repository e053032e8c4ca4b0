import { timeOptions } from '../format';
import { locale } from '../i18n';
import { zone } from '../zone';
import type { Step } from './series';

/** zoneOf returns the zone of a chart's times. Days are always those of India. */
export function zoneOf(step: Step): string {
	return step === 'day' ? 'Asia/Kolkata' : zone.value;
}

const made = new Map<string, Intl.DateTimeFormat>();

/** stamp formats a time of a chart, given in seconds: a day in India, or an hour in the zone of the page. */
export function stamp(x: number, step: Step): string {
	const timeZone = zoneOf(step);
	const name = `${step} ${locale.value} ${timeZone}`;
	// Creating a formatter is slower than using it, and a year has 8,760 hours.
	const format =
		made.get(name) ??
		new Intl.DateTimeFormat(locale.value, { ...(step === 'hour' ? timeOptions('short') : { dateStyle: 'medium' }), timeZone });
	made.set(name, format);
	return format.format(new Date(x * 1000));
}

/**
 * times writes the ticks of an axis: hours, or dates at midnight and for days. The date stands below the first hour of each
 * day. The year stands below the first date and below each date that begins another year.
 */
export function times(ticks: readonly number[], step: Step): string[] {
	const timeZone = zoneOf(step);
	const east = timeZone === 'UTC' ? 0 : 19_800;
	const write = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale.value, { ...options, timeZone });
	const date = write({ day: 'numeric', month: 'short' });
	const year = write({ year: 'numeric' });
	const hour = write({ hour: '2-digit', minute: '2-digit', hour12: false });
	let last = '';
	let written = '';
	let dated = '';
	return ticks.map((tick) => {
		const at = new Date(tick * 1000);
		const ofDay = date.format(at);
		if (step === 'hour' && (tick + east) % 86_400 !== 0) {
			const text = ofDay === dated ? hour.format(at) : `${hour.format(at)}\n${ofDay}`;
			dated = ofDay;
			return text;
		}
		dated = ofDay;
		const text = ofDay;
		// A chart of few days has several ticks in a day. Only the first tick names the day.
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
