import { render, screen } from '@testing-library/preact';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { api } from '../api/client';
import { NewWebhook } from './NewWebhookPage';

test('a webhook without events is not sent, and the form links to the catalogue of types', async () => {
	const post = vi.spyOn(api, 'POST');
	render(<NewWebhook />);
	await userEvent.click(screen.getByRole('button', { name: 'Save webhook' }));
	expect(await screen.findByText('Select at least one event type.')).toBeTruthy();
	expect(post).not.toHaveBeenCalled();
	expect(screen.getByRole<HTMLAnchorElement>('link', { name: 'Event types' }).pathname).toMatch(/\/event-types$/);
});
