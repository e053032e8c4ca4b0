import type { Schemas } from '../api/client';
import { pageOf } from '../subject';

/** EventType is the name of a type of event. */
export type EventType = Schemas['EventType'];

/** families groups the event types. */
export const families = [
	{
		name: 'webhooks.family.recharge',
		types: ['recharge.completed', 'recharge.failed', 'recharge.pending', 'recharge.refunded'],
	},
	{
		name: 'webhooks.family.verification',
		types: ['verification.completed', 'verification.bulk.completed', 'verification.failed'],
	},
	{ name: 'webhooks.family.quota', types: ['quota.warning', 'quota.exceeded'] },
	{ name: 'webhooks.family.payment', types: ['payment.succeeded', 'payment.failed'] },
	{ name: 'webhooks.family.alert', types: ['air.alert.triggered', 'air.alert.resolved', 'air.alert.test'] },
	{ name: 'webhooks.family.webhook', types: ['webhook.failing', 'webhook.recovered'] },
	{ name: 'webhooks.family.source', types: ['source.degraded', 'source.recovered'] },
] as const satisfies readonly { name: string; types: readonly EventType[] }[];

/** offeredFamilies returns the families for a key. Events of sources are for operators only. */
export function offeredFamilies(operator: boolean): readonly (typeof families)[number][] {
	return families.filter((family) => operator || family.name !== 'webhooks.family.source');
}

/** offeredTypes lists the event types of the families for a key. */
export function offeredTypes(operator: boolean): readonly EventType[] {
	return offeredFamilies(operator).flatMap((family): readonly EventType[] => family.types);
}

/** delays are the seconds from each attempt to the next one of the eight. */
export const delays = [0, 10, 30, 120, 600, 3600, 21_600, 86_400] as const;

/** mostAttempts is the maximum number of attempts of a delivery. */
export const mostAttempts = delays.length;

/** EventSubject is the record that an event is about, and the path of its page. */
export interface EventSubject {
	id: string;
	to: string;
}

const named = ['transaction_id', 'verification_id', 'batch_id', 'payment_id', 'alert_id', 'webhook_id'] as const;

/**
 * eventSubject finds the subject of an event in its data. It is undefined for a quota, a test event, and an id of
 * another form.
 */
export function eventSubject(data: Record<string, unknown>): EventSubject | undefined {
	if (data.test === true) {
		return undefined;
	}
	for (const name of named) {
		const id = data[name];
		if (typeof id !== 'string' || !/^[a-z]+_[0-9A-Z]{26}$/.test(id)) {
			continue;
		}
		const to = pageOf(id);
		if (to) {
			return { id, to };
		}
	}
	return undefined;
}

const units = [
	['hour', 3_600],
	['minute', 60],
	['second', 1],
] as const;

/** span formats a number of seconds: 30 seconds, 2 minutes, 24 hours. */
export function span(seconds: number, locale: string): string {
	const [unit, size] = units.find(([, size]) => seconds >= size && seconds % size === 0) ?? (['second', 1] as const);
	return new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(seconds / size);
}

/** lasting formats a duration, rounded to a unit of which it has two or more: 31 hours, 90 minutes. */
export function lasting(seconds: number, locale: string): string {
	const [, size] = units.find(([, size]) => seconds >= 2 * size) ?? (['second', 1] as const);
	return span(Math.round(seconds / size) * size, locale);
}
