import { QueryClient, QueryClientProvider } from '@tanstack/preact-query';
import { render, screen } from '@testing-library/preact';
import userEvent from '@testing-library/user-event';
import type { JSX } from 'preact';
import { beforeEach, expect, test, vi } from 'vitest';
import { Problem } from '../api/client';
import { type ListState, Rows, useList } from './List';
import { Table } from './Table';

interface Key {
	id: string;
	calls: number;
}

const load = vi.fn<(cursor: string | undefined) => Promise<ListState<Key>>>();

beforeEach(() => void load.mockReset());

function Keys(): JSX.Element {
	const list = useList<Key>(['keys'], load);
	return (
		<Rows list={list} empty="There is no key yet" hint={<p>Make one.</p>}>
			{(rows) => (
				<Table
					caption="Keys"
					rows={rows}
					id={(key) => key.id}
					columns={[
						{ name: 'Id', show: (key) => key.id },
						{ name: 'Calls', figure: true, show: (key) => key.calls },
					]}
				/>
			)}
		</Rows>
	);
}

function show(): void {
	render(
		<QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
			<Keys />
		</QueryClientProvider>,
	);
}

const page = (id: string, next: string | null): ListState<Key> => ({
	data: [{ id, calls: 7 }],
	has_more: next !== null,
	next_cursor: next,
});

test('a table has a name, a header for each column, and a row for each entry', async () => {
	load.mockResolvedValue(page('key_1', null));
	show();
	expect(screen.getByRole('status').textContent).toContain('Loading');
	const table = await screen.findByRole('table', { name: 'Keys' });
	expect(screen.getAllByRole('columnheader').map((cell) => cell.textContent)).toEqual(['Id', 'Calls']);
	expect([...table.querySelectorAll('td')].map((cell) => cell.textContent)).toEqual(['key_1', '7']);
	expect(screen.getByRole('cell', { name: '7' }).className).toBe('figure');
	// A scrolling element must be reachable by keyboard.
	expect(screen.getByRole('region', { name: 'Keys' }).tabIndex).toBe(0);
	expect(screen.queryByRole('button')).toBeNull();
});

test('more pages are fetched on demand with the last cursor', async () => {
	load.mockResolvedValueOnce(page('key_1', 'after_1')).mockResolvedValueOnce(page('key_2', null));
	show();
	await userEvent.click(await screen.findByRole('button', { name: 'Show more' }));
	await screen.findByRole('cell', { name: 'key_2' });
	expect(screen.getByRole('cell', { name: 'key_1' })).toBeTruthy();
	expect(load.mock.calls.map(([cursor]) => cursor)).toEqual([undefined, 'after_1']);
	expect(screen.queryByRole('button')).toBeNull();
});

test('an empty list shows a message', async () => {
	load.mockResolvedValue({ data: [], has_more: false, next_cursor: null });
	show();
	await screen.findByText('There is no key yet');
	expect(screen.getByText('Make one.')).toBeTruthy();
});

test('an empty page does not end the list while more follow', async () => {
	load.mockResolvedValue({ data: [], has_more: true, next_cursor: 'after_0' });
	show();
	await screen.findByRole('button', { name: 'Show more' });
	expect(screen.queryByText('There is no key yet')).toBeNull();
});

test('a page that fails keeps the rows, and can be fetched again', async () => {
	load
		.mockResolvedValueOnce(page('key_1', 'after_1'))
		.mockRejectedValueOnce(new Problem(503, { error: { message: 'Busy', request_id: 'req_9' } }))
		.mockResolvedValueOnce(page('key_2', null));
	show();
	await userEvent.click(await screen.findByRole('button', { name: 'Show more' }));
	const alert = await screen.findByRole('alert');
	expect(alert.textContent).toContain('Busy');
	expect(alert.textContent).toContain('req_9');
	expect(screen.getByRole('cell', { name: 'key_1' })).toBeTruthy();
	await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
	await screen.findByRole('cell', { name: 'key_2' });
	expect(screen.queryByRole('alert')).toBeNull();
});
