import { expect, test } from 'vitest';
import { withRow } from './totals';

test('a recharge is added to the paisa, in all and for its state', () => {
	const none = { complete: true, count: 0, amount: 0, states: [] };
	const one = withRow(none, { status: 'success', amount: 10.1 });
	expect(withRow(withRow(one, { status: 'failed', amount: 199 }), { status: 'success', amount: 10.2 })).toEqual({
		complete: true,
		count: 3,
		amount: 219.3,
		states: [
			{ status: 'failed', count: 1, amount: 199 },
			{ status: 'success', count: 2, amount: 20.3 },
		],
	});
});
