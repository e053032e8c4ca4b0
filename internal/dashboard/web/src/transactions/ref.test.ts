import { expect, test } from 'vitest';
import { freshRef, newRef } from './ref';

test('a reference contains its origin and the date in India', () => {
	const got = newRef('recharge', new Date('2026-11-21T20:00:00Z'), new Uint8Array([0, 1, 2, 31, 32, 255, 9, 10, 11, 12]));
	expect(got).toBe('recharge-20261122-012z0z9abc');
});

test('references are unique, and the API accepts them', () => {
	const many = new Set(Array.from({ length: 1000 }, () => freshRef('topup')));
	expect(many.size).toBe(1000);
	for (const one of many) {
		expect(one).toMatch(/^topup-\d{8}-[0-9a-z]{10}$/);
	}
});
