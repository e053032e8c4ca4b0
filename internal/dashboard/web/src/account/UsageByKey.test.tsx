import { QueryClient, QueryClientProvider } from '@tanstack/preact-query';
import { render, screen, within } from '@testing-library/preact';
import { beforeEach, expect, test, vi } from 'vitest';
import { api, type Schemas } from '../api/client';
import { type Current, sessionState } from '../session';
import { KeyFilter, UsageByKey } from './UsageByKey';

const sum = { operation: 'getAQI', date: '2026-11-21', failed: 0, counted: 0 };
const replies: Record<string, unknown> = {
	'/v1/keys': { data: [{ id: 'key_1', name: 'till', last_four: 'abcd' }], has_more: false },
	'/v1/members': { data: [{ id: 'mem_1', email: 'asha@example.com', key_ids: { live: 'key_2', sandbox: 'key_3' } }] },
};
const days = [
	{ ...sum, key_id: 'key_1', calls: 3 },
	{ ...sum, key_id: 'key_2', calls: 2 },
	{ ...sum, key_id: 'key_9XYZ', calls: 1 },
];

let requested: Set<string>;

beforeEach(() => {
	requested = new Set();
	vi.spyOn(api, 'GET').mockImplementation((async (path: string) => {
		requested.add(path);
		return { data: replies[path], response: Response.json({}) };
	}) as unknown as typeof api.GET);
});

/** open shows the filter and the table to a key, and returns the texts of both when they contain an awaited text. */
async function open(mode: Current['mode'], scopes: Schemas['Scope'][], awaited: string) {
	const key = { id: 'key_1', name: 'till', last_four: 'abcd', scopes };
	const account = { id: 'acc_1', name: 'Acme', plan: 'free' };
	sessionState.value = { at: 'in', current: { account, mode, key, session: null, member: null } };
	render(
		<QueryClientProvider client={new QueryClient()}>
			<KeyFilter value="key_2" apply={() => undefined} />
			<UsageByKey days={days} all={{ calls: 46, failed: 4, counted: 0 }} selected={undefined} select={() => undefined} />
		</QueryClientProvider>,
	);
	await screen.findByRole('button', { name: awaited });
	return {
		rows: screen.getAllByRole('button').map((button) => button.textContent),
		options: within(screen.getByLabelText('Key or person'))
			.getAllByRole('option')
			.map((option) => option.textContent),
	};
}

test('the calls of a person have the address, if the key can list people', async () => {
	const { rows, options } = await open('live', ['account:read', 'keys:manage'], 'asha@example.com');
	expect(rows).toEqual(['till …abcd', 'asha@example.com', 'A person …9XYZ']);
	expect(options).toEqual(['All keys and people', 'till …abcd', 'asha@example.com']);
	const table = screen.getByRole('region', { name: 'By key or person' });
	const cells = within(table).getAllByRole('cell');
	expect(cells.slice(-8).map((cell) => cell.textContent)).toEqual(['Without a key', '40', '4', '0', 'Total', '46', '4', '0']);
});

test.each([
	['live', ['account:read']],
	['sandbox', ['account:read', 'keys:manage']],
] as const)('in %s a key with %s sees that a person made calls, and requests no list of people', async (mode, scopes) => {
	const { rows, options } = await open(mode, [...scopes], 'A person …ey_2');
	expect(rows).toEqual(['till …abcd', 'A person …ey_2', 'A person …9XYZ']);
	expect(options).toEqual(['All keys and people', 'till …abcd', 'A person …ey_2']);
	expect(requested).toEqual(new Set(['/v1/keys']));
});
