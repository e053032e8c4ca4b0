import { QueryClientProvider } from '@tanstack/preact-query';
import { render, screen } from '@testing-library/preact';
import { beforeEach, expect, test, vi } from 'vitest';
import { api } from '../api/client';
import { queries } from '../api/queries';
import { sessionState } from '../session';
import { Alert } from './AlertDetail';

const at = '2026-11-20T10:00:00Z';
const alert = {
	...{ id: 'alt_1', name: 'Winter', place: { city: 'Delhi', name: 'Delhi' }, condition: { metric: 'aqi', over: 300 }, hysteresis: 0 },
	...{ minimum_interval: 0, quiet_hours: null, language: 'en', active: true, mode: 'sandbox', created_at: at, updated_at: at },
	...{ state: 'ok', changed_at: null as string | null, triggered_at: null as string | null },
};
const triggered = { ...alert, state: 'triggered', changed_at: at, triggered_at: at };
const change = {
	event_id: 'evt_1',
	at,
	data: { state: 'triggered', reason: 'crossed', language: 'en', message: 'AQI is 390.', stale: false },
};

beforeEach(() => {
	queries.clear();
	sessionState.value = { at: 'in', current: { key: { scopes: ['alerts:manage'] } } } as unknown as typeof sessionState.value;
});

/** show shows the alert. The API answers with states one after the other, and then with the last of them. */
function show(...states: (typeof alert)[]): { reads: () => number } {
	let reads = 0;
	const get = async (path: string) => {
		const data = path.endsWith('/history')
			? { data: [change], has_more: false, next_cursor: null }
			: states[Math.min(reads++, states.length - 1)];
		return { data, response: Response.json(data) };
	};
	vi.spyOn(api, 'GET').mockImplementation(get as unknown as typeof api.GET);
	render(
		<QueryClientProvider client={queries}>
			<Alert id="alt_1" />
		</QueryClientProvider>,
	);
	return { reads: () => reads };
}

test('an alert is fetched again if its history has a newer change', async () => {
	const { reads } = show(alert, triggered);
	await screen.findByText('AQI is 390.');
	await expect.poll(() => screen.getAllByText('Triggered').length).toBe(2);
	expect(screen.queryByText('never')).toBeNull();
	expect(reads()).toBe(2);
});

test('an alert that has the last change of its history is fetched once', async () => {
	const { reads } = show(triggered);
	await screen.findByText('AQI is 390.');
	expect(screen.getAllByText('Triggered')).toHaveLength(2);
	expect(reads()).toBe(1);
});
