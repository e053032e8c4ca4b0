import { QueryClient, QueryClientProvider } from '@tanstack/preact-query';
import { render, screen, waitFor } from '@testing-library/preact';
import userEvent from '@testing-library/user-event';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { expect, test, vi } from 'vitest';
import { Problem } from '../api/client';
import { Form } from '../ui/Form';
import { AlertFields } from './AlertFields';
import { type Body, bodyOf, newDraft } from './draft';

/** Editor is a form whose submission hands its body to save. */
function Editor(props: { save: (body: Body) => Promise<void> }): JSX.Element {
	const [draft, setDraft] = useState(() => newDraft({ city: 'Delhi' }, 'en'));
	return (
		<QueryClientProvider client={new QueryClient()}>
			<Form submit={() => props.save(bodyOf(draft))} button="Save">
				<AlertFields draft={draft} change={(changed) => setDraft((old) => ({ ...old, ...changed }))} />
			</Form>
		</QueryClientProvider>
	);
}

const optionsOf = (label: string) => [...screen.getByLabelText<HTMLSelectElement>(label).options].map((option) => option.value);

test('a metric offers its comparisons only', async () => {
	render(<Editor save={async () => undefined} />);
	expect(optionsOf('Comparison')).toEqual(['over', 'under']);
	await userEvent.selectOptions(screen.getByLabelText('Metric'), 'category');
	expect(optionsOf('Comparison')).toEqual(['over', 'under', 'change']);
	expect(optionsOf('Limit')).toContain('Very Poor');
	await userEvent.selectOptions(screen.getByLabelText('Comparison'), 'change');
	expect(screen.queryByLabelText('Limit')).toBeNull();
	expect(optionsOf('Change')).toEqual(['any', 'worse', 'better']);
	await userEvent.selectOptions(screen.getByLabelText('Metric'), 'pm25');
	expect(screen.getByLabelText<HTMLSelectElement>('Comparison').value).toBe('over');
	expect(screen.getByText('In µg/m³, measured at the place')).toBeTruthy();
});

test('the body has what is shown, and nothing of hidden fields', async () => {
	const save = vi.fn(async (_: Body) => undefined);
	render(<Editor save={save} />);
	await userEvent.click(screen.getByRole('radio', { name: 'Pin code' }));
	await userEvent.type(screen.getByLabelText('Pin code', { selector: 'input[inputmode]' }), '411004');
	await userEvent.click(screen.getByRole('checkbox', { name: /Quiet hours/ }));
	await userEvent.click(screen.getByRole('button', { name: 'Save' }));
	expect(save.mock.calls[0]?.[0]).toMatchObject({
		place: { pincode: '411004' },
		condition: { metric: 'aqi', over: 300 },
		quiet_hours: { from: '22:00', to: '07:00' },
	});
});

test('each error of the API is at its field', async () => {
	const details = [
		{ field: 'place.city', message: 'No such city.' },
		{ field: 'condition.over', message: 'Too high.' },
		{ field: 'minimum_interval', message: 'No duration.' },
	];
	render(<Editor save={() => Promise.reject(new Problem(422, { error: { code: 'invalid_alert', message: 'Several.', details } }))} />);
	await userEvent.click(screen.getByRole('button', { name: 'Save' }));
	await screen.findByText('No such city.');
	const wrong = [...document.querySelectorAll<HTMLInputElement>('[aria-invalid]')];
	const messages = wrong.map(
		(control) => document.getElementById((control.getAttribute('aria-describedby') ?? '').split(' ').at(-1) ?? '')?.textContent,
	);
	expect(messages).toEqual(details.map(({ message }) => message));
	await waitFor(() => expect(document.activeElement).toBe(wrong[0]));
	expect(screen.queryByText('Several.')).toBeNull();
});

test('an error names the label of its field, and not the field of the API', async () => {
	const details = [
		{ field: 'place.lat', message: 'place.lat must be a number.' },
		{ field: 'place.lon', message: 'place.lon must be a number.' },
		{ field: 'hysteresis', message: 'hysteresis must be a number.' },
		{ field: 'minimum_interval', message: 'The minimum_interval cannot be null; leave it out.' },
	];
	render(<Editor save={() => Promise.reject(new Problem(422, { error: { code: 'invalid_alert', message: 'Several.', details } }))} />);
	await userEvent.click(screen.getByRole('radio', { name: 'Position' }));
	await userEvent.click(screen.getByRole('button', { name: 'Save' }));
	for (const text of [
		'Latitude must be a number.',
		'Longitude must be a number.',
		'Margin (hysteresis) must be a number.',
		'Minimum interval cannot be null; leave it out.',
	]) {
		expect(await screen.findByText(text)).toBeTruthy();
	}
});
