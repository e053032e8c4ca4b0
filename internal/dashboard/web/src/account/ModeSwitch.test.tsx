import { render, screen } from '@testing-library/preact';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test, vi } from 'vitest';
import { api } from '../api/client';
import type { Current } from '../session';
import { ModeSwitch } from './ModeSwitch';

const current: Current = {
	account: { id: 'acc_1', name: 'Acme', plan: 'free' },
	mode: 'sandbox',
	key: { id: 'key_1', name: 'site', last_four: 'abcd', scopes: ['account:read'] },
	session: {
		...{ id: 'ses_1', key_id: 'key_1', client: '127.0.0.1', agent: 'test', current: true, other_key_id: 'key_2' },
		...{ created_at: '2026-11-21T03:35:06Z', expires_at: '2026-11-21T11:35:06Z' },
	},
	member: null,
};

/** refuse lets the API refuse the next switch because of a field. */
function refuse(status: number, code: string, field: string | undefined) {
	const error = { code, message: 'Refused.', ...(field && { field }) };
	return vi.spyOn(api, 'POST').mockImplementation((async () => ({
		error: { status: 'error', error },
		response: Response.json({}, { status }),
	})) as unknown as typeof api.POST);
}

const press = () => userEvent.click(screen.getByRole('button', { name: 'Switch to live' }));

beforeEach(() => {
	vi.restoreAllMocks();
});

test('a session whose other key is no longer valid asks for another one', async () => {
	const post = refuse(400, 'invalid_request', 'key');
	render(<ModeSwitch of={current} />);
	await press();
	await screen.findByLabelText('Live key');
	expect(post).toHaveBeenCalledWith('/v1/sessions/current/mode', { body: { mode: 'live' } });
	expect(screen.queryByText('Refused.')).toBeNull();
});

test('the dialog of a person whose other key is no longer valid says that an owner must act', async () => {
	refuse(400, 'invalid_request', 'key');
	render(<ModeSwitch of={{ ...current, member: { id: 'mem_1', email: 'asha@example.com', role: 'viewer' } }} />);
	await press();
	await screen.findByText(/An owner of the account must remove you and add you again/);
	expect(screen.queryByLabelText('Live key')).toBeNull();
});

test('another error is shown at the button', async () => {
	refuse(503, 'unavailable', undefined);
	render(<ModeSwitch of={current} />);
	await press();
	await screen.findByText('Refused.');
	expect(screen.queryByRole('dialog')).toBeNull();
});
