import { QueryClient, QueryClientProvider } from '@tanstack/preact-query';
import { render, screen, waitFor } from '@testing-library/preact';
import { expect, test, vi } from 'vitest';
import { api } from '../api/client';
import { RechargesCard, VerificationsCard } from './TransactionCards';

const cards = [
	['recharges', RechargesCard, '₹9,000'],
	['verifications', VerificationsCard, '6,000 of'],
] as const;

test.each(cards)('many %s of a day are added up once a minute', async (kind, Card, shown) => {
	const requested: boolean[] = [];
	vi.spyOn(api, 'GET').mockImplementation((async (_: string, options: { params: { query: { totals?: boolean } } }) => {
		const { totals = false } = options.params.query;
		requested.push(totals);
		const all = { totals: { complete: true, count: 6000, amount: 9000, states: [{ status: 'success', count: 6000, amount: 9000 }] } };
		return { data: { data: [], has_more: false, next_cursor: null, ...(totals && all) }, response: Response.json({}) };
	}) as unknown as typeof api.GET);
	const queries = new QueryClient();
	render(
		<QueryClientProvider client={queries}>
			<Card />
		</QueryClientProvider>,
	);
	await waitFor(() => expect(requested).toEqual([true]));
	await queries.invalidateQueries({ queryKey: [kind] });
	await waitFor(() => expect(requested).toEqual([true, false]));
	await screen.findByText(new RegExp(shown));
});
