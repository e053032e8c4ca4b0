import { QueryClient, QueryClientProvider } from '@tanstack/preact-query';
import { fireEvent, render, screen } from '@testing-library/preact';
import { expect, test, vi } from 'vitest';
import { withKey } from '../api/client';
import { showLanguage } from '../i18n';
import { Embed } from './Embed';

const requested = vi.fn();

function show(status: number, source: string): void {
	const get = async (_path: string, options: unknown) => {
		requested(options);
		return status === 200
			? { data: { current: { source: [source] } }, response: Response.json({}) }
			: { error: { error: { code: 'not_found' } }, response: new Response(null, { status }) };
	};
	vi.spyOn(withKey, 'GET').mockImplementation(get as unknown as typeof withKey.GET);
	render(
		<QueryClientProvider client={new QueryClient()}>
			<h1>Delhi</h1>
			<Embed city="Delhi" />
		</QueryClientProvider>,
	);
}

test('a city of the public edge has code to copy, in the language of the page', async () => {
	const writeText = vi.fn(async () => undefined);
	vi.stubGlobal('navigator', { clipboard: { writeText } });
	show(200, 'cpcb');
	await screen.findByText(/widget\.js" data-city="Delhi"><\/script>$/);
	expect(requested.mock.lastCall?.[0]).toMatchObject({ credentials: 'omit' });
	expect(screen.queryByText(/simulated/)).toBeNull();
	fireEvent.click(screen.getByRole('button', { name: 'Image in Markdown' }));
	const code = `![AQI of Delhi](${location.origin}/public/v1/cities/Delhi/badge.svg)`;
	await screen.findByText(code);
	fireEvent.click(screen.getByRole('button', { name: 'Copy' }));
	await expect.poll(() => writeText.mock.lastCall).toEqual([code]);
	vi.unstubAllGlobals();
	await showLanguage('hi');
	fireEvent.click(screen.getByRole('button', { name: 'विजेट' }));
	await screen.findByText(/data-city="Delhi" data-lang="hi" data-name="दिल्ली"/);
	screen.getByRole('img', { name: 'दिल्ली का AQI' });
	await showLanguage('en');
});

test('simulated air is named', async () => {
	show(200, 'simulator');
	await screen.findByText(/The public pages of this service show simulated air/);
});

test('without a public edge there is nothing', async () => {
	requested.mockClear();
	show(404, '');
	await expect.poll(() => requested.mock.calls.length).toBe(1);
	await screen.findByRole('heading', { name: 'Delhi' });
	expect(screen.queryByRole('heading', { name: /another page/ })).toBeNull();
});
