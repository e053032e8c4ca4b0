import { QueryClient, QueryClientProvider } from '@tanstack/preact-query';
import { render, screen, waitFor } from '@testing-library/preact';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { api } from '../../api/client';
import { sessionState } from '../../session';
import { NewRechargePage } from './NewRechargePage';

test('a recharge with real money that the wallet does not cover cannot be sent', async () => {
	sessionState.value = { at: 'in', current: { mode: 'live', scopes: ['recharge:write'] } } as never;
	vi.spyOn(api, 'GET').mockImplementation((async (path: string) => ({
		data: path === '/v1/wallet' ? { available: 150.1, held: 0, balance: 150.1 } : { data: [] },
		response: Response.json({}),
	})) as unknown as typeof api.GET);
	render(
		<QueryClientProvider client={new QueryClient()}>
			<NewRechargePage />
		</QueryClientProvider>,
	);
	await screen.findByText('₹150.10 available.');
	const send = screen.getByRole<HTMLButtonElement>('button', { name: 'Recharge' });
	const amount = screen.getByLabelText('Amount in rupees');
	await userEvent.type(amount, '199');
	await screen.findByText(/The wallet has ₹150\.10: ₹48\.90 short\./);
	expect(screen.getByText('Add at least ₹48.90, or enter an amount of at most ₹150.10.')).toBeTruthy();
	expect(screen.getByText('Missing').nextElementSibling?.textContent).toBe('₹48.90');
	expect(screen.queryByText('Available afterwards')).toBeNull();
	expect(screen.getByRole<HTMLAnchorElement>('link', { name: 'Top up the wallet' }).pathname).toMatch(/\/wallet$/);
	expect(send.disabled).toBe(true);
	await userEvent.clear(amount);
	await userEvent.type(amount, '150.10');
	await waitFor(() => expect(send.disabled).toBe(false));
	expect(screen.queryByRole('link', { name: 'Top up the wallet' })).toBeNull();
	expect(screen.getByText('Available afterwards').nextElementSibling?.textContent).toBe('₹0.00');
});
