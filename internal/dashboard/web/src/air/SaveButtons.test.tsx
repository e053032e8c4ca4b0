import { render, screen } from '@testing-library/preact';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { SaveButtons } from './SaveButtons';

test('each type has a button, and the last save reports its failure', async () => {
	const save = vi.fn(async (_: 'png' | 'csv') => {});
	render(<SaveButtons types={['png', 'csv']} save={save} />);
	expect(screen.getAllByRole('button').map(({ textContent }) => textContent)).toEqual(['Save as PNG', 'Save as CSV']);
	save.mockRejectedValueOnce(new Error('no memory'));
	await userEvent.click(screen.getByRole('button', { name: 'Save as PNG' }));
	await expect.poll(() => screen.getByRole('alert').textContent).toBe('The file could not be created. Try again.');
	await userEvent.click(screen.getByRole('button', { name: 'Save as CSV' }));
	await expect.poll(() => screen.getByRole('alert').textContent).toBe('');
	expect(save.mock.calls).toEqual([['png'], ['csv']]);
});
