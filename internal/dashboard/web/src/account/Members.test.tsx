import { QueryClient, QueryClientProvider } from '@tanstack/preact-query';
import { render, screen } from '@testing-library/preact';
import { expect, test, vi } from 'vitest';
import { api } from '../api/client';
import { type Current, sessionState } from '../session';
import { Members } from './Members';

const key = { id: 'key_1', name: 'site', last_four: 'abcd', scopes: ['account:read', 'keys:manage'] } as Current['key'];
const account = { id: 'acc_1', name: 'Acme', plan: 'free' };
const asha = {
	...{ id: 'mem_1', email: 'asha@example.com', role: 'owner', created_at: '2026-11-21T03:35:06Z', last_sign_in_at: null },
	key_ids: { live: 'key_2', sandbox: 'key_3' },
};

/** open renders the page in a mode, and returns the requests of the page. */
function open(mode: Current['mode']) {
	sessionState.value = { at: 'in', current: { account, mode, key, session: null, member: null } };
	const get = vi.spyOn(api, 'GET');
	get.mockImplementation((async () => ({
		data: { status: 'success', data: [asha], roles: [] },
		response: Response.json({}),
	})) as unknown as typeof api.GET);
	render(
		<QueryClientProvider client={new QueryClient()}>
			<Members />
		</QueryClientProvider>,
	);
	return get;
}

test('in the sandbox the page shows a note, and requests no list', () => {
	const get = open('sandbox');
	expect(screen.getByText(/They can be seen and changed in live only/)).toBeTruthy();
	expect(screen.getAllByRole('button').map((button) => button.textContent)).toEqual(['Switch to live']);
	expect(get).not.toHaveBeenCalled();
});

test('in live mode the page lists people with their actions', async () => {
	const get = open('live');
	await screen.findByRole('button', { name: 'Remove asha@example.com' });
	expect(screen.getByRole('button', { name: 'Add a person' })).toBeTruthy();
	expect(get).toHaveBeenCalledOnce();
});
