import { render, screen } from '@testing-library/preact';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { Segments } from './Segments';
import { Tabs } from './Tabs';

test('segments are a group with a name, of which one is pressed', async () => {
	const change = vi.fn();
	render(
		<Segments
			label="Period"
			value="24h"
			options={[
				['24h', 'Day'],
				['7d', 'Week'],
			]}
			change={change}
		/>,
	);
	expect(screen.getByRole('group', { name: 'Period' })).toBeTruthy();
	expect(screen.getByRole('button', { name: 'Day', pressed: true })).toBeTruthy();
	await userEvent.click(screen.getByRole('button', { name: 'Week', pressed: false }));
	expect(change.mock.calls).toEqual([['7d']]);
});

test('tabs are links, of which one is the current page', () => {
	render(
		<Tabs
			label="Kind"
			at="recharge"
			tabs={[
				['recharge', '/batches', 'Recharges'],
				['verification', '/batches?kind=verification', 'Verifications'],
			]}
		/>,
	);
	expect(screen.getByRole('navigation', { name: 'Kind' })).toBeTruthy();
	expect(screen.getByRole('link', { current: 'page' }).textContent).toBe('Recharges');
	expect(screen.getByRole('link', { name: 'Verifications' }).getAttribute('href')).toBe('/batches?kind=verification');
});
