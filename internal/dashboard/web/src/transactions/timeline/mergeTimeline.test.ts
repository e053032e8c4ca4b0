import { expect, test } from 'vitest';
import type { Schemas } from '../../api/client';
import { type Entry, madeAt, mergeTimeline } from './mergeTimeline';

const subject = 'txn_01M80R7RSG7JD9J4AN60Z24BCZ';
const created = '2026-11-22T04:29:10.320220Z';
const settled = '2026-11-22T04:29:15.346412Z';

function step(at: string, act: string, answer: string) {
	return { at, until: at, times: 1, act, answer };
}

function posting(at: string, kind: Schemas['WalletEntry']['kind']): Schemas['WalletEntry'] {
	return { subject, kind, at, available: 0, held: 0 };
}

function row(seq: number, at: string, action: string): Schemas['AuditRow'] {
	return { seq, at, actor: 'operator', action, subject, request_id: '', client: '', detail: {}, hash: '' };
}

function named(entry: Entry): string {
	switch (entry.kind) {
		case 'step':
			return `${entry.step.act} ${entry.step.answer}`;
		case 'posting':
			return entry.posting.kind;
		case 'event':
			return entry.event.type;
		case 'audit':
			return entry.row.action;
	}
}

test('the entries of a recharge are in the order in which they happened', () => {
	const got = mergeTimeline({
		steps: [
			step(created, 'created', 'recorded'),
			step('2026-11-22T04:29:10.321973Z', 'submit', 'pending'),
			step(settled, 'enquire', 'succeeded'),
			step(settled, 'settled', 'success'),
		],
		postings: [posting(settled, 'commit'), posting(created, 'reserve')],
		events: [
			{ id: 'evt_01M80R7RSP69S1SYSA81S9GFHY', type: 'recharge.pending', created: 1795321750 },
			{ id: 'evt_01M80R7XPKXK76FD34J4R4G8HX', type: 'recharge.completed', created: 1795321755 },
		],
		audit: [row(5, settled, 'recharge.success'), row(3, created, 'recharge.create')],
	});
	expect(got.map(named)).toEqual([
		'created recorded',
		'reserve',
		'recharge.create',
		'submit pending',
		'recharge.pending',
		'enquire succeeded',
		'settled success',
		'commit',
		'recharge.success',
		'recharge.completed',
	]);
});

test('an event with an unusable id is sorted by its second', () => {
	const got = mergeTimeline({ events: [{ id: 'evt_other', type: 'recharge.pending', created: 1795321750 }] });
	expect(got[0]?.at).toBe('2026-11-22T04:29:10.000Z');
});

test('an empty timeline is valid', () => {
	expect(mergeTimeline({})).toEqual([]);
});

test('an id contains its millisecond', () => {
	expect(madeAt('evt_01M80R7RSP69S1SYSA81S9GFHY')).toBe(Date.parse('2026-11-22T04:29:10.326Z'));
	expect(madeAt('evt_')).toBeUndefined();
});
