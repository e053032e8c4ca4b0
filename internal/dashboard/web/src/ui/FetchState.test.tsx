import { QueryClient, QueryClientProvider, useQuery } from '@tanstack/preact-query';
import { render, screen } from '@testing-library/preact';
import userEvent from '@testing-library/user-event';
import type { JSX } from 'preact';
import { beforeEach, expect, test, vi } from 'vitest';
import { Problem } from '../api/client';
import { errorMessage, Fetched } from './FetchState';

const load = vi.fn<() => Promise<string>>();

beforeEach(() => void load.mockReset());

function Balance(): JSX.Element {
	const query = useQuery({ queryKey: ['balance'], queryFn: load, retry: false });
	return (
		<>
			<Fetched query={query}>{(data) => <p>{data}</p>}</Fetched>
			<button type="button" onClick={() => void query.refetch()}>
				Refresh
			</button>
		</>
	);
}

function show(): void {
	render(
		<QueryClientProvider client={new QueryClient()}>
			<Balance />
		</QueryClientProvider>,
	);
}

test('shows a loading message, then the data', async () => {
	load.mockResolvedValue('₹ 500');
	show();
	expect(screen.getByRole('status').textContent).toContain('Loading');
	await screen.findByText('₹ 500');
	expect(screen.queryByRole('status')).toBeNull();
});

test('shows why there is no data, and fetches it again on demand', async () => {
	load.mockRejectedValueOnce(new Problem(0, undefined)).mockResolvedValueOnce('₹ 500');
	show();
	expect((await screen.findByRole('alert')).textContent).toContain('The service does not answer');
	await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
	await screen.findByText('₹ 500');
});

test('keeps old data after a failed refetch, and shows its age', async () => {
	load.mockResolvedValueOnce('₹ 500').mockRejectedValueOnce(new Problem(503, undefined));
	show();
	await screen.findByText('₹ 500');
	await userEvent.click(screen.getByRole('button', { name: 'Refresh' }));
	expect((await screen.findByRole('status')).textContent).toMatch(/Data from .*2\d{3}/);
	expect(screen.getByText('₹ 500')).toBeTruthy();
});

test.each([
	[new Problem(429, { error: { message: 'Slow down' } }, 7), 'Too many calls at once. Try again in 7 s.'],
	[new Problem(422, { error: { message: 'No such operator' } }), 'No such operator'],
	[new Problem(500, undefined), 'The request failed'],
])('the message of %o is for a person', (problem, message) => {
	expect(errorMessage(problem)).toBe(message);
});
