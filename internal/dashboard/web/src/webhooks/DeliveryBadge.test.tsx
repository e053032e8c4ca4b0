import { render, screen } from '@testing-library/preact';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Schemas } from '../api/client';
import { entries, expectBadge, type Shown } from '../testing/badge';
import { DeliveryBadge, Due, HealthBadge, milliseconds } from './DeliveryBadge';

const deliveries: Record<Schemas['DeliveryState'], Shown> = {
	waiting: ['Waiting', 'busy'],
	delivered: ['Delivered', 'good'],
	failed: ['Failed', 'bad'],
	cancelled: ['Cancelled', 'quiet'],
};

test.each(entries(deliveries))('the badge of a delivery: %s', (state, shown) => {
	expectBadge(<DeliveryBadge of={{ state, attempts_made: 0 }} />, shown);
});

test.each(entries({ ...deliveries, waiting: ['Retrying', 'warn'] }))('the badge of a delivery after an attempt: %s', (state, shown) => {
	expectBadge(<DeliveryBadge of={{ state, attempts_made: 1 }} />, shown);
});

test.each(
	entries<Schemas['WebhookHealth']['health']>({
		idle: ['Nothing sent yet', 'quiet'],
		healthy: ['Healthy', 'good'],
		degraded: ['Degraded', 'warn'],
		failing: ['Failing', 'bad'],
		paused: ['Paused', 'quiet'],
	}),
)('the badge of a webhook: %s', (health, shown) => expectBadge(<HealthBadge health={health} />, shown));

test.each([
	['delivery', () => <DeliveryBadge of={{ state: 'expired' as never, attempts_made: 1 }} />],
	['webhook', () => <HealthBadge health={'expired' as never} />],
])('a state of a newer service has the name of the API: %s', (_, badge) => expectBadge(badge(), ['expired', 'quiet']));

describe('the time of the next attempt', () => {
	beforeEach(() => void vi.useFakeTimers({ now: new Date('2026-11-21T20:30:00Z'), toFake: ['Date', 'setInterval', 'clearInterval'] }));
	afterEach(() => void vi.useRealTimers());

	test('is a timer that screen readers do not announce every second', async () => {
		render(<Due at="2026-11-21T20:35:00Z" />);
		await expect.poll(() => screen.getByRole('timer').textContent).toBe('in 5 minutes');
		expect(screen.getByRole('timer').getAttribute('aria-live')).toBe('off');
	});

	test.each([
		['now', { at: '2026-11-21T20:29:59Z' }],
		['now', { at: null }],
		['after you resume the webhook', { at: '2026-11-21T20:35:00Z', paused: true }],
	])('is "%s" without a moment to wait for: %o', async (text, props) => {
		const { container } = render(<Due {...props} />);
		await expect.poll(() => container.textContent).toBe(text);
		expect(screen.queryByRole('timer')).toBeNull();
	});
});

test.each([
	[0.4, '< 1 ms'],
	[3.162, '3 ms'],
	[999.4, '999 ms'],
	[999.5, '1.0 s'],
	[5000.276, '5.0 s'],
])('%d ms are shown as %s', (value, text) => {
	expect(milliseconds(value)).toBe(text);
});
