import { render, screen } from '@testing-library/preact';
import { expect, test } from 'vitest';
import { Card, Facts, Page } from './Page';

test('a page sets the title of the document, and its heading gets the focus', async () => {
	render(
		<Page title="Wallet" actions={<button type="button">Top up</button>}>
			<p>Content</p>
		</Page>,
	);
	const heading = screen.getByRole('heading', { level: 1, name: 'Wallet' });
	await expect.poll(() => document.activeElement).toBe(heading);
	expect(document.title).toBe('Wallet · Vayu');
	expect(screen.getByRole('button', { name: 'Top up' })).toBeTruthy();
});

test('a card has a heading only if it has a title', () => {
	const { rerender } = render(<Card title="Attempts">Content</Card>);
	expect(screen.getByRole('heading', { level: 2, name: 'Attempts' })).toBeTruthy();
	rerender(<Card>Content</Card>);
	expect(screen.queryByRole('heading')).toBeNull();
});

test('facts omit undefined values, but not zero', () => {
	render(
		<Facts
			of={[
				['Bank', undefined],
				['Branch', ''],
				['UTR', null],
				['Its recharges', false],
				['Attempts', 0],
				['Operator', 'Jio'],
			]}
		/>,
	);
	expect(screen.getAllByRole('term').map((term) => term.textContent)).toEqual(['Attempts', 'Operator']);
	expect(screen.getAllByRole('definition').map((value) => value.textContent)).toEqual(['0', 'Jio']);
});
