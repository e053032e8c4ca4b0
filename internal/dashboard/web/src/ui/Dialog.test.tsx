import { render, screen } from '@testing-library/preact';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { Dialog } from './Dialog';

test('a dialog is modal, has a name, and calls close once', async () => {
	const showModal = vi.spyOn(HTMLDialogElement.prototype, 'showModal');
	const close = vi.fn();
	const { unmount } = render(
		<Dialog title="Make a key" close={close}>
			<p>Content</p>
		</Dialog>,
	);
	await expect.poll(() => showModal.mock.calls.length).toBe(1);
	expect(screen.getByRole('dialog', { name: 'Make a key' })).toBeTruthy();
	await userEvent.click(screen.getByRole('button', { name: 'Close' }));
	expect(close).toHaveBeenCalledOnce();
	unmount();
	expect(close).toHaveBeenCalledOnce();
});

test('a dialog that its page removes does not call close', async () => {
	const close = vi.fn();
	const { unmount } = render(
		<Dialog title="Make a key" close={close}>
			<p>Content</p>
		</Dialog>,
	);
	await expect.poll(() => screen.getByRole<HTMLDialogElement>('dialog').open).toBe(true);
	unmount();
	expect(close).not.toHaveBeenCalled();
});
