import { expect, test } from 'vitest';
import { totals } from './totals';

test('amounts are added to the paisa, in all and for each state', () => {
	const { all, states } = totals([
		{ status: 'success', amount: 10.1 },
		{ status: 'success', amount: 10.2 },
		{ status: 'failed', amount: 199 },
	]);
	expect(all).toEqual({ count: 3, amount: 219.3 });
	expect([...states]).toEqual([
		['success', { count: 2, amount: 20.3 }],
		['failed', { count: 1, amount: 199 }],
	]);
});
