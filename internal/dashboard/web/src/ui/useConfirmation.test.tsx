import { render, screen } from '@testing-library/preact';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { Form } from './Form';
import { useConfirmation } from './useConfirmation';

function Page(props: { send: () => void }) {
	const [confirm, question] = useConfirmation();
	const submit = async () => {
		if (await confirm({ title: 'Pay?', content: <p>₹199.00</p>, button: 'Pay now' })) {
			props.send();
		}
	};
	return (
		<>
			{question}
			<Form submit={submit} button="Send" />
		</>
	);
}

test('a form sends after a yes only, and a no returns to its button', async () => {
	const send = vi.fn();
	render(<Page send={send} />);
	await userEvent.click(screen.getByRole('button', { name: 'Send' }));
	await screen.findByRole('dialog', { name: 'Pay?' });
	await userEvent.click(screen.getByRole('button', { name: 'Cancel' }));
	await expect.poll(() => screen.queryByRole('dialog')).toBeNull();
	await expect.poll(() => document.activeElement?.textContent).toBe('Send');
	expect(send).not.toHaveBeenCalled();
	await userEvent.click(screen.getByRole('button', { name: 'Send' }));
	await userEvent.click(await screen.findByRole('button', { name: 'Pay now' }));
	await expect.poll(() => send.mock.calls.length).toBe(1);
	expect(screen.queryByRole('dialog')).toBeNull();
});
