import { expect, test } from 'vitest';
import { joined, searchOf } from './search';

test.each([
	['txn_01KAJ0A6Q3W8Y1B4D7F0H2K5M9', { page: '/recharges/txn_01KAJ0A6Q3W8Y1B4D7F0H2K5M9' }],
	[' ver_01KAJ0A6Q3W8Y1B4D7F0H2K5M9 ', { page: '/verifications/ver_01KAJ0A6Q3W8Y1B4D7F0H2K5M9' }],
	['txn_short', { ref: 'txn_short' }],
	['foo_01KAJ0A6Q3W8Y1B4D7F0H2K5M9', { ref: 'foo_01KAJ0A6Q3W8Y1B4D7F0H2K5M9' }],
	['order-1017', { ref: 'order-1017' }],
	['+91 98765-43210', { ref: '+91 98765-43210', mobile: '+919876543210' }],
	['09876543210', { ref: '09876543210', mobile: '09876543210' }],
	['10234567', { ref: '10234567', mobile: '10234567' }],
	['XXXXXX3210', { ref: 'XXXXXX3210', mobile: 'XXXXXX3210' }],
	['xxxxxx3210', { ref: 'xxxxxx3210', mobile: 'xxxxxx3210' }],
	['XXXXXXXXXX3210', { ref: 'XXXXXXXXXX3210' }],
	['3210', { ref: '3210', mobile: 'XXXXXX3210' }],
	['101', { ref: '101' }],
	['+1 202 555 0100', { ref: '+1 202 555 0100' }],
])('%s is looked for as %o', (text, want) => {
	expect(searchOf(text)).toEqual(want);
});

test('a row of both lists is shown once', () => {
	expect(joined([{ id: 'b' }], [{ id: 'a' }, { id: 'b' }], ({ id }) => id)).toEqual([{ id: 'b' }, { id: 'a' }]);
});
