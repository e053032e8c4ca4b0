import { fireEvent, render, screen } from '@testing-library/preact';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { Dialog } from './Dialog';

test('a dialog is modal, has a name, and calls close once', async () => {
	const showModal = vi.spyOn(HTMLDialogElement.prototype, 'showModal');
	const close = vi.fn();
	const { unmount } = render(
		<Dialog title="Create key" close={close}>
			<p>Content</p>
		</Dialog>,
	);
	await expect.poll(() => showModal.mock.calls.length).toBe(1);
	expect(screen.getByRole('dialog', { name: 'Create key' })).toBeTruthy();
	await userEvent.click(screen.getByRole('button', { name: 'Close' }));
	expect(close).toHaveBeenCalledOnce();
	unmount();
	expect(close).toHaveBeenCalledOnce();
});

test('a dialog that its page removes does not call close', async () => {
	const close = vi.fn();
	const { unmount } = render(
		<Dialog title="Create key" close={close}>
			<p>Content</p>
		</Dialog>,
	);
	await expect.poll(() => screen.getByRole<HTMLDialogElement>('dialog').open).toBe(true);
	unmount();
	expect(close).not.toHaveBeenCalled();
});

test('Escape does not close a dialog whose content cannot be shown again', async () => {
	const close = vi.fn();
	render(
		<Dialog title="Your new key" close={close} kept="Copy the key first.">
			<p>sk_live_1</p>
		</Dialog>,
	);
	const dialog = screen.getByRole<HTMLDialogElement>('dialog');
	await expect.poll(() => dialog.open).toBe(true);
	for (const _ of [1, 2, 3]) {
		expect(fireEvent.keyDown(dialog, { key: 'Escape' })).toBe(false);
		expect(fireEvent(dialog, new Event('cancel', { cancelable: true }))).toBe(false);
	}
	await screen.findByText('Copy the key first.');
	expect(close).not.toHaveBeenCalled();
	await userEvent.click(screen.getByRole('button', { name: 'Close' }));
	expect(close).toHaveBeenCalledOnce();
});
