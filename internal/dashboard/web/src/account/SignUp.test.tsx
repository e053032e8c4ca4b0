import { QueryClient, QueryClientProvider } from '@tanstack/preact-query';
import { render, screen } from '@testing-library/preact';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test, vi } from 'vitest';
import { api, withKey } from '../api/client';
import { SignUp } from './SignUp';

const key = `sk_test_${'a'.repeat(39)}`;

/** reply makes the API answer the POST of the page with a status and a body. */
function reply(status: number, body: object, headers: Record<string, string> = {}) {
	const response = Response.json(body, { status, headers });
	return vi
		.spyOn(withKey, 'POST')
		.mockImplementation((async () =>
			status < 300 ? { data: body, response } : { error: body, response }) as unknown as typeof withKey.POST);
}

function open(confirms: boolean, mode: 'open' | 'invite' = 'open') {
	vi.spyOn(withKey, 'GET').mockImplementation((async () => ({
		data: { status: 'success', mode },
		response: Response.json({}),
	})) as unknown as typeof withKey.GET);
	const response = Response.json({}, { status: 401 });
	vi.spyOn(api, 'GET').mockImplementation((async () => ({ error: {}, response })) as unknown as typeof api.GET);
	render(
		<QueryClientProvider client={new QueryClient()}>
			<SignUp confirms={confirms} />
		</QueryClientProvider>,
	);
}

async function signUp() {
	await userEvent.type(await screen.findByLabelText('E-mail address'), 'asha@example.com');
	await userEvent.click(screen.getByRole('button', { name: 'Create an account' }));
}

beforeEach(() => {
	vi.restoreAllMocks();
});

test('after a sign-up the titles say so, and the next step signs in with the new key', async () => {
	const post = reply(201, { status: 'success', account_id: 'acc_1', key, expires_at: '2026-11-30T16:00:00Z' });
	open(false);
	await screen.findByRole('heading', { name: 'Create an account' });
	await signUp();
	await screen.findByRole('heading', { name: 'Your account is ready' });
	await vi.waitFor(() => expect(document.title).toBe('Your account is ready · Vayu'));
	expect(screen.getByText(key)).toBeTruthy();
	expect(screen.queryByRole('link', { name: 'Sign in with a key' })).toBeNull();
	expect(screen.getByRole('button', { name: 'Copy' }).className).toBe('primary');
	await userEvent.click(screen.getByRole('button', { name: 'Open the dashboard' }));
	expect(post).toHaveBeenLastCalledWith('/v1/sessions', { headers: { Authorization: `Bearer ${key}` } });
});

test('a limited sign-up says when to try again, in minutes', async () => {
	reply(429, { status: 'error', error: { code: 'rate_limited', message: 'Refused.' } }, { 'Retry-After': '3540' });
	open(false);
	await signUp();
	await screen.findByText('Too many requests. Try again in 59 minutes.');
	expect(screen.getByRole('heading', { name: 'Create an account' })).toBeTruthy();
});

test.each([
	[200, { status: 'success', outcome: 'confirmed', key }, 'Your live key is ready', 'button', 'Open the dashboard'],
	[200, { status: 'success', outcome: 'address_in_use' }, 'No live key was created', 'link', 'Go to the sign-in page'],
	[200, { status: 'success', outcome: 'repeated' }, 'Nothing left to confirm', 'link', 'Go to the sign-in page'],
	[400, { error: { code: 'invalid_request', message: 'x', field: 'token' } }, 'This link does not work', 'link', 'Create an account'],
] as const)('status %i and %j of a confirmation have the title %s', async (status, body, title, role, next) => {
	reply(status, body);
	open(true);
	await userEvent.click(screen.getByRole('button', { name: 'Confirm the address' }));
	await screen.findByRole('heading', { name: title });
	await vi.waitFor(() => expect(document.title).toBe(`${title} · Vayu`));
	expect(screen.getByRole(role, { name: next })).toBeTruthy();
	expect(screen.queryByRole('button', { name: 'Confirm the address' })).toBeNull();
});

test('without a mail, an invited person learns that a new sign-up needs a new code', async () => {
	reply(201, { status: 'success', account_id: 'acc_1', key, expires_at: '2026-11-30T16:00:00Z' });
	open(false, 'invite');
	await userEvent.type(await screen.findByLabelText('Invite code'), 'inv_1');
	await signUp();
	await screen.findByText(/Your invite code is used up: to sign up again, ask the person/);
	await userEvent.click(screen.getByRole('button', { name: 'Sign up with a new code' }));
	expect((screen.getByLabelText('Invite code') as HTMLInputElement).value).toBe('');
});

test('without invite codes, a person without a mail can sign up again', async () => {
	reply(201, { status: 'success', account_id: 'acc_1', key, expires_at: '2026-11-30T16:00:00Z' });
	open(false);
	await signUp();
	const hint = await screen.findByText(/Signing up again makes another account/);
	expect(hint.textContent).not.toContain('code');
	expect(screen.getByRole('button', { name: 'Sign up again' })).toBeTruthy();
});

test.each([
	['open', 'If it has expired, sign up again.'],
	['invite', 'If it has expired, sign up again with a new invite code. Ask the person who gave you the first one.'],
] as const)('with the mode %s a link that does not work says: %s', async (mode, next) => {
	reply(400, { error: { code: 'invalid_request', message: 'x', field: 'token' } });
	open(true, mode);
	await userEvent.click(screen.getByRole('button', { name: 'Confirm the address' }));
	await screen.findByText(next);
});
