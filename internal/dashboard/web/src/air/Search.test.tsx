import { QueryClient, QueryClientProvider } from '@tanstack/preact-query';
import { fireEvent, render, screen } from '@testing-library/preact';
import { afterEach, expect, test, vi } from 'vitest';
import { api } from '../api/client';
import { showLanguage } from '../i18n';
import { Search } from './Search';

afterEach(() => showLanguage('en'));

test('in Hindi, a city found by its English name comes first, without another name', async () => {
	await showLanguage('hi');
	const city = { state: '', aqi: 120, category: 'Moderate' };
	const data = ['Varanasi', 'Bengaluru'].map((name) => ({ ...city, name }));
	vi.spyOn(api, 'GET').mockResolvedValue({ data: { data }, response: Response.json({}) } as never);
	render(
		<QueryClientProvider client={new QueryClient()}>
			<Search />
		</QueryClientProvider>,
	);
	fireEvent.input(screen.getByRole('combobox'), { target: { value: 'ben' } });
	// Varanasi is found by Benares.
	await screen.findByRole('option', { name: /Benares/ });
	expect(screen.getAllByRole('option').map(({ textContent }) => textContent)).toEqual([
		'बेंगलुरु120 · मध्यम',
		'वाराणसीBenares नाम से मिला · 120 · मध्यम',
	]);
});
