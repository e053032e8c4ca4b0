import { QueryClientProvider } from '@tanstack/preact-query';
import { fireEvent, render, screen, waitFor } from '@testing-library/preact';
import { expect, test, vi } from 'vitest';
import { api } from '../../api/client';
import { queries } from '../../api/queries';
import { SubjectSearch } from './Statement';

test('a search says that it failed, and that it found nothing, and applies what it finds', async () => {
	const apply = vi.fn();
	let reply: object = { error: { error: { message: 'Not now.' } }, response: new Response(null, { status: 403 }) };
	vi.spyOn(api, 'GET').mockImplementation((async () => reply) as unknown as typeof api.GET);
	render(
		<QueryClientProvider client={queries}>
			<SubjectSearch value={undefined} apply={apply} />
		</QueryClientProvider>,
	);
	const field = screen.getByRole<HTMLInputElement>('searchbox');
	fireEvent.input(field, { target: { value: 'order-7' } });
	fireEvent.change(field);
	await screen.findByText('Not now.');
	expect(field.value).toBe('order-7');

	reply = { data: { data: [] }, response: Response.json({}) };
	await queries.refetchQueries({ queryKey: ['wallet', 'subject'] });
	await screen.findByText('No result for the reference or ID order-7.');
	expect(field.value).toBe('order-7');
	expect(apply).not.toHaveBeenCalled();

	reply = { data: { data: [{ transaction_id: 'txn_1' }] }, response: Response.json({}) };
	await queries.refetchQueries({ queryKey: ['wallet', 'subject'] });
	await waitFor(() => expect(apply).toHaveBeenCalledWith('txn_1'));
	expect(field.value).toBe('');
});
