import { expect, test } from 'vitest';
import type { Schemas } from '../api/client';
import { entries, expectBadge, type Shown } from '../testing/badge';
import {
	BatchBadge,
	MatchBadge,
	matchOf,
	PaymentBadge,
	RechargeBadge,
	rechargeTone,
	VerificationBadge,
	verificationTone,
} from './StatusBadge';

type Match = NonNullable<Schemas['Verification']['name_match']>;

test.each(
	entries<Schemas['RechargeState']>({
		pending: ['Waiting for the operator', 'busy'],
		success: ['Successful', 'good'],
		failed: ['Failed', 'bad'],
		refunded: ['Refunded', 'warn'],
	}),
)('the badge of a recharge: %s', (state, shown) => {
	expectBadge(<RechargeBadge state={state} />, shown);
	expect(rechargeTone(state)).toBe(shown[1]);
});

test.each(entries<Match>({ exact: ['Exact', 'good'], partial: ['Partial', 'warn'], none: ['No match', 'bad'] }))(
	'the badge of a name match: %s',
	(match, shown) => expectBadge(<MatchBadge of={match} />, shown),
);

test.each(
	entries<Schemas['VerificationBatchState']>({
		queued: ['Queued', 'quiet'],
		processing: ['Processing', 'busy'],
		completed: ['Completed', 'good'],
		expired: ['Expired', 'quiet'],
	}),
)('the badge of a batch: %s', (state, shown) => expectBadge(<BatchBadge state={state} />, shown));

test.each(entries<Schemas['PaymentState']>({ pending: ['Pending', 'busy'], success: ['Paid', 'good'], failed: ['Failed', 'bad'] }))(
	'the badge of a payment: %s',
	(state, shown) => expectBadge(<PaymentBadge state={state} />, shown),
);

/** result returns a verification with a status, and more fields. */
function result(status: string, more: object = {}): Schemas['Verification'] {
	return { status, verified: false, suspicious: false, ...more } as unknown as Schemas['Verification'];
}

test.each<[name: string, of: Schemas['Verification'], ...Shown]>([
	['a verified account', result('success', { verified: true }), 'Exists, verified', 'good'],
	['a verified account that is flagged', result('success', { verified: true, suspicious: true }), 'Exists, verified', 'warn'],
	['an account that is not verified', result('success'), 'Exists, not verified', 'warn'],
	['a verification that waits', result('pending'), 'Waiting for the bank', 'busy'],
	['no answer', result('failed', { error: { code: 'bank_unavailable' } }), 'No answer', 'bad'],
	['an account that does not exist', result('failed', { error: { code: 'account_not_found' } }), 'Does not exist', 'bad'],
	['a payment address that does not exist', result('failed', { error: { code: 'vpa_not_found' } }), 'Does not exist', 'bad'],
])('the badge of %s', (_, of, ...shown) => {
	expectBadge(<VerificationBadge of={of} />, shown);
	expect(verificationTone(of)).toBe(shown[1]);
});

test.each([
	['recharge', () => <RechargeBadge state={'reversed' as never} />],
	['name match', () => <MatchBadge of={'reversed' as never} />],
	['verification', () => <VerificationBadge of={result('reversed')} />],
	['batch', () => <BatchBadge state={'reversed' as never} />],
	['payment', () => <PaymentBadge state={'reversed' as never} />],
])('a state of a newer service has the name of the API: %s', (_, badge) => expectBadge(badge(), ['reversed', 'quiet']));

test('a state of a newer service has no tone', () => {
	expect(rechargeTone('reversed' as never)).toBe('quiet');
	expect(verificationTone(result('reversed'))).toBe('quiet');
});

test('a verified account without a name in its request has no match', () => {
	expect(matchOf({ verified: true, name_match: 'none' })).toBeUndefined();
	expect(matchOf({ verified: false, name_match: 'none' })).toBe('none');
	expect(matchOf({ verified: true, name_match: 'partial' })).toBe('partial');
});
