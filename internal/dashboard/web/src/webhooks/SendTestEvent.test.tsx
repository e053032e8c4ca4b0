import { QueryClientProvider } from '@tanstack/preact-query';
import { render, screen, waitFor } from '@testing-library/preact';
import { expect, test, vi } from 'vitest';
import { api } from '../api/client';
import { queries } from '../api/queries';
import { Followed } from './SendTestEvent';

test('a followed delivery makes the health and the list fetch again when it is created and when its state changes', async () => {
	let delivery = { id: 'dlv_1', event_type: 'recharge.completed', state: 'waiting', attempts_made: 0, last_attempt: null };
	vi.spyOn(api, 'GET').mockImplementation((async () => ({
		data: { data: delivery },
		response: Response.json({}),
	})) as unknown as typeof api.GET);
	const stale: string[] = [];
	vi.spyOn(queries, 'invalidateQueries').mockImplementation(async (filters) => void stale.push(String(filters?.queryKey)));
	render(
		<QueryClientProvider client={queries}>
			<Followed id="dlv_1" />
		</QueryClientProvider>,
	);
	await screen.findByText('Waiting');
	await waitFor(() => expect(stale).toContain('health'));
	expect(stale).toContain('deliveries,list');
	stale.length = 0;
	delivery = { ...delivery, state: 'delivered', attempts_made: 1 };
	await queries.refetchQueries({ queryKey: ['deliveries', 'one'] });
	await screen.findByText('Delivered');
	await waitFor(() => expect(stale.sort()).toEqual(['deliveries,list', 'health']));
});
