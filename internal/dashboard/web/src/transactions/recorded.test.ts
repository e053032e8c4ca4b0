import { expect, test } from 'vitest';
import { Problem } from '../api/client';
import { amountOf, recorded } from './recorded';

test('a recorded call returns its id, also if it failed', async () => {
	const poor = { error: { status: 'failed', transaction_id: 'txn_1', error: { code: 'insufficient_balance', message: 'poor' } } };
	const got = await recorded(Promise.resolve({ ...poor, response: new Response(null, { status: 402 }) }), 'transaction_id');
	expect(got.id).toBe('txn_1');
	expect(got.problem?.code).toBe('insufficient_balance');
	const done = { data: { transaction_id: 'txn_2' }, response: new Response(null, { status: 200 }) };
	expect(await recorded(Promise.resolve(done), 'transaction_id')).toEqual({ id: 'txn_2', problem: undefined });
});

test('an error reply without a record and a lost reply are thrown', async () => {
	const refused = { error: { error: { code: 'unknown_operator', field: 'operator' } }, response: new Response(null, { status: 422 }) };
	await expect(recorded(Promise.resolve(refused), 'transaction_id')).rejects.toMatchObject({ code: 'unknown_operator', field: 'operator' });
	await expect(recorded(Promise.reject(new TypeError('lost')), 'transaction_id')).rejects.toBeInstanceOf(Problem);
});

test('amounts are parsed to the paisa, and other texts are rejected', () => {
	expect(['199', '₹ 1,00,000.50', ' 10.5 '].map(amountOf)).toEqual([199, 100000.5, 10.5]);
	expect(['', '1.234', '-5', '1e3', '０', '12345678', '=1'].map(amountOf)).toEqual(Array(7).fill(undefined));
});
