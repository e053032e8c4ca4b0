import { expect, test } from 'vitest';
import { countsOf, headline, outcomeOf } from './outcome';

test('the headline of a finished batch says how its records ended', () => {
	const says = (successful: number, failed: number, existing?: number) =>
		headline('verification', countsOf('verification', { successful, failed }, existing));
	expect(says(10, 0, 9)).toBe('9 exist, 1 does not exist');
	expect(says(3, 2, 1)).toBe('1 exists, 2 do not exist, 2 without an answer');
	expect(says(10, 0)).toBeUndefined();
	expect(headline('recharge', countsOf('recharge', { successful: 58, failed: 2 }, undefined))).toBe('58 successful, 2 failed');
});

test.each([
	[{ status: 'success' }, 'good'],
	[{ status: 'refunded' }, 'good'],
	[{ status: 'failed', error: { code: 'account_not_found' } }, 'missing'],
	[{ status: 'failed', error: { code: 'vpa_not_found' } }, 'missing'],
	[{ status: 'failed', error: { code: 'bank_timeout' } }, 'failed'],
	[{ status: 'error', error: { code: 'invalid_number' } }, 'failed'],
	[{ status: 'pending' }, undefined],
	[{ status: 'queued' }, undefined],
] as const)('a record with %o has the outcome %s', (result, outcome) => {
	expect(outcomeOf(result)).toBe(outcome);
});
