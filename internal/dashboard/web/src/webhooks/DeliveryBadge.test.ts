import { expect, test } from 'vitest';
import { milliseconds } from './DeliveryBadge';

test.each([
	[0.4, '< 1 ms'],
	[3.162, '3 ms'],
	[999.4, '999 ms'],
	[999.5, '1.0 s'],
	[5000.276, '5.0 s'],
])('%d ms are shown as %s', (value, text) => {
	expect(milliseconds(value)).toBe(text);
});
