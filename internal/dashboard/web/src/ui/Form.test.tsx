import { render, screen, waitFor } from '@testing-library/preact';
import userEvent from '@testing-library/user-event';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { expect, test, vi } from 'vitest';
import { Problem } from '../api/client';
import { Check, Field, Group, Select } from './Field';
import { Form, type IdempotencyKey, labelled } from './Form';

/** Payment is a form with each kind of control. */
function Payment(props: { submit: (idempotencyKey: IdempotencyKey, amount: string) => Promise<void> }): JSX.Element {
	const [amount, setAmount] = useState('');
	return (
		<Form submit={(key) => props.submit(key, amount)} button="Pay" tone="primary">
			<Field label="Name" name="name" value="Asha" change={() => undefined} />
			<Field label="Amount" hint="In rupees" name="amount" value={amount} change={setAmount} />
			<Select
				label="Method"
				name="method"
				value="upi"
				options={[
					['upi', 'UPI'],
					['card', 'Card'],
				]}
				change={() => undefined}
			/>
			<Group legend="Events" name="events">
				<Check checked={false} change={() => undefined}>
					paid
				</Check>
			</Group>
		</Form>
	);
}

const pay = () => userEvent.click(screen.getByRole('button', { name: 'Pay' }));

function refusal(...details: { field: string; message: string }[]): Problem {
	return new Problem(422, { error: { code: 'invalid_request', message: 'The request is invalid.', details } });
}

test('submits once at a time, and is marked as busy', async () => {
	let answer = () => undefined as undefined;
	const submit = vi.fn(
		() =>
			new Promise<void>((resolve) => {
				answer = () => void resolve() as undefined;
			}),
	);
	const { container } = render(<Payment submit={submit} />);
	const form = container.querySelector('form') as HTMLFormElement;
	form.requestSubmit();
	form.requestSubmit();
	const button = screen.getByRole<HTMLButtonElement>('button', { name: 'Pay' });
	await waitFor(() => expect(button.disabled).toBe(true));
	expect(submit).toHaveBeenCalledOnce();
	answer();
	await waitFor(() => expect(button.disabled).toBe(false));
	await pay();
	expect(submit).toHaveBeenCalledTimes(2);
});

test('shows an error at its field, and moves the focus there', async () => {
	render(
		<Payment
			submit={() => Promise.reject(refusal({ field: 'amount', message: 'At least 10.' }, { field: 'method', message: 'Unknown.' }))}
		/>,
	);
	await pay();
	const amount = screen.getByLabelText('Amount');
	await waitFor(() => expect(document.activeElement).toBe(amount));
	expect(amount.getAttribute('aria-invalid')).toBe('true');
	const described = (amount.getAttribute('aria-describedby') ?? '').split(' ').map((id) => document.getElementById(id)?.textContent);
	expect(described).toEqual(['In rupees', 'At least 10.']);
	expect(screen.getByLabelText('Method').getAttribute('aria-invalid')).toBe('true');
	expect(screen.getByLabelText('Name').hasAttribute('aria-invalid')).toBe(false);
	expect(screen.queryByText(/The request is invalid/)).toBeNull();
});

test('shows an error of a part at its group, and moves the focus there', async () => {
	render(<Payment submit={() => Promise.reject(refusal({ field: 'events.2', message: 'No such event.' }))} />);
	await pay();
	const group = screen.getByRole('group', { name: 'Events' });
	await waitFor(() => expect(document.activeElement).toBe(group));
	expect(screen.getByText('No such event.')).toBeTruthy();
});

test('shows an error that belongs to no field above the button', async () => {
	render(<Payment submit={() => Promise.reject(refusal({ field: 'currency', message: 'Unknown.' }))} />);
	await pay();
	expect(await screen.findByText(/The request is invalid/)).toBeTruthy();
	expect(document.querySelector('[aria-invalid]')).toBeNull();
});

test('the message disappears when the form is submitted again', async () => {
	const submit = vi
		.fn()
		.mockRejectedValueOnce(refusal({ field: 'amount', message: 'At least 10.' }))
		.mockResolvedValue(undefined);
	render(<Payment submit={submit} />);
	await pay();
	await screen.findByText('At least 10.');
	await pay();
	await waitFor(() => expect(screen.queryByText('At least 10.')).toBeNull());
});

test('a lost reply can be sent again with the same idempotency key', async () => {
	const keys: string[] = [];
	const lost = new Problem(0, undefined);
	const submit = vi.fn(async (key: IdempotencyKey, amount: string) => {
		keys.push(key({ amount }));
		if (keys.length < 3) {
			throw lost;
		}
	});
	render(<Payment submit={submit} />);
	await pay();
	// The page never repeats a form by itself, so the message must not say that it does.
	await screen.findByText('The service does not answer. Send it again. If the first request arrived, it is not executed twice.');
	await pay();
	expect(keys[1]).toBe(keys[0]);
	// Another body is another request, and so is the same body after a success.
	await userEvent.type(screen.getByLabelText('Amount'), '5');
	await pay();
	await pay();
	expect(new Set(keys).size).toBe(3);
	expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
});

test('cancel leaves the form without submitting it', async () => {
	const [submit, cancel] = [vi.fn(), vi.fn()];
	render(<Form submit={submit} button="Delete" cancel={cancel} />);
	await userEvent.click(screen.getByRole('button', { name: 'Cancel' }));
	expect(cancel).toHaveBeenCalledOnce();
	expect(submit).not.toHaveBeenCalled();
});

test.each([
	['The amount can have at most two decimals.', 'amount', 'Amount', 'The amount can have at most two decimals.'],
	['amount must be a number.', 'amount', 'Amount', 'Amount must be a number.'],
	['events.2 must be a string.', 'events', 'Events', 'Events must be a string.'],
	['The ref_id must have 1 to 255 characters.', 'ref_id', 'Your reference', 'Your reference must have 1 to 255 characters.'],
	['A my_ref_id is no ref_ids.', 'ref_id', 'Your reference', 'A my_ref_id is no ref_ids.'],
])('%j at the field %s', (message, name, label, want) => {
	expect(labelled(message, name, label)).toBe(want);
});
