import { expect, test } from 'vitest';
import { delays, eventSubject, lasting, mostAttempts, offeredTypes, span } from './eventTypes';

test('sixteen types, two more for operators, and eight attempts', () => {
	expect(new Set(offeredTypes(false)).size).toBe(16);
	expect(offeredTypes(true).filter((type) => !offeredTypes(false).includes(type))).toEqual(['source.degraded', 'source.recovered']);
	expect(mostAttempts).toBe(8);
	expect(delays.map((seconds) => span(seconds, 'en-IN'))).toEqual([
		'0 seconds',
		'10 seconds',
		'30 seconds',
		'2 minutes',
		'10 minutes',
		'1 hour',
		'6 hours',
		'24 hours',
	]);
});

test('the subject of an event has a page', () => {
	const id = (prefix: string) => `${prefix}_01KAJ0A6Q3W8Y1B4D7F0H2K5M9`;
	expect(eventSubject({ transaction_id: id('txn') })?.to).toBe(`/recharges/${id('txn')}`);
	expect(eventSubject({ verification_id: id('ver') })?.to).toBe(`/verifications/${id('ver')}`);
	expect(eventSubject({ batch_id: id('bat') })?.to).toBe(`/batches/${id('bat')}`);
	expect(eventSubject({ batch_id: id('rbt') })?.to).toBe(`/batches/${id('rbt')}`);
	expect(eventSubject({ alert_id: id('alt') })?.to).toBe(`/alerts/${id('alt')}`);
	expect(eventSubject({ webhook_id: id('wh') })?.to).toBe(`/webhooks/${id('wh')}`);
	expect(eventSubject({ payment_id: id('pay') })?.to).toBe(`/wallet?show=payments&id=${id('pay')}`);
});

test('a test event, a quota and a hostile id have no subject', () => {
	expect(eventSubject({ transaction_id: 'txn_01KAJ0A6Q3W8Y1B4D7F0H2K5M9', test: true })).toBeUndefined();
	expect(eventSubject({ period: '2026-11' })).toBeUndefined();
	expect(eventSubject({ transaction_id: 'txn_../../x', batch_id: 7 })).toBeUndefined();
});

test('a duration is rounded to a unit of which it has two or more', () => {
	expect([112_360, 5400, 119, 0.4].map((seconds) => lasting(seconds, 'en-IN'))).toEqual([
		'31 hours',
		'90 minutes',
		'119 seconds',
		'0 seconds',
	]);
});
