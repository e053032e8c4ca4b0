import { render, screen } from '@testing-library/preact';
import userEvent from '@testing-library/user-event';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import 'preact/compat';
import { expect, test, vi } from 'vitest';
import { Check, Filter, Radios, Select, toggled } from './Field';

test('a filter applies its text on leaving the input, not at each key, and keeps it over a render', async () => {
	const apply = vi.fn();
	const { rerender } = render(<Filter label="Reference" type="search" value={undefined} apply={apply} />);
	const input = screen.getByLabelText<HTMLInputElement>('Reference');
	await userEvent.type(input, ' emp-1 ');
	rerender(<Filter label="Reference" type="search" value={undefined} apply={apply} />);
	expect(input.value).toBe(' emp-1 ');
	expect(apply).not.toHaveBeenCalled();
	await userEvent.tab();
	expect(apply.mock.calls).toEqual([['emp-1']]);
});

test('a select calls back with the value of the option', async () => {
	const change = vi.fn();
	render(
		<Select
			label="State"
			value=""
			options={[
				['', 'Any'],
				['failed', 'Failed'],
			]}
			change={change}
		/>,
	);
	await userEvent.selectOptions(screen.getByLabelText('State'), 'Failed');
	expect(change.mock.calls).toEqual([['failed']]);
});

test('radios are a group with a name, of which one is checked', async () => {
	function Kind(): JSX.Element {
		const [kind, setKind] = useState<'upi' | 'account'>('upi');
		return (
			<Radios
				label="Kind"
				value={kind}
				options={[
					['upi', 'UPI'],
					['account', 'Account'],
				]}
				change={setKind}
			/>
		);
	}
	render(<Kind />);
	expect(screen.getByRole('group', { name: 'Kind' })).toBeTruthy();
	await userEvent.click(screen.getByRole('radio', { name: 'Account' }));
	expect(screen.getByRole<HTMLInputElement>('radio', { name: 'Account' }).checked).toBe(true);
	expect(screen.getByRole<HTMLInputElement>('radio', { name: 'UPI' }).checked).toBe(false);
});

test('a checkbox is named by its text', async () => {
	const change = vi.fn();
	render(
		<Check checked={false} change={change}>
			Leave these out
		</Check>,
	);
	await userEvent.click(screen.getByRole('checkbox', { name: 'Leave these out' }));
	expect(change.mock.calls).toEqual([[true]]);
});

test('toggled returns a new set', () => {
	const old = new Set(['a', 'b']);
	expect([...toggled(old, ['b', 'c'], true)]).toEqual(['a', 'b', 'c']);
	expect([...toggled(old, ['b', 'c'], false)]).toEqual(['a']);
	expect([...old]).toEqual(['a', 'b']);
});
