import { render, screen } from '@testing-library/preact';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { Badge, CopyableText, Time } from './Badge';

afterEach(() => void vi.useRealTimers());

test('a badge has the text and the class of its tone', () => {
	render(<Badge tone="bad">Failed</Badge>);
	expect(screen.getByText('Failed').className).toBe('badge bad');
});

test('a time is shown in the time zone of India, with the value of the API in its title', () => {
	render(<Time at="2026-11-21T20:30:00Z" exact />);
	const time = screen.getByTitle('2026-11-21T20:30:00Z');
	expect(time.getAttribute('datetime')).toBe('2026-11-21T20:30:00Z');
	expect(time.textContent).toMatch(/22 Nov 2026, 2:00:00/);
});

test('a relative time updates itself', async () => {
	vi.useFakeTimers({ now: new Date('2026-11-21T20:30:05Z'), toFake: ['Date', 'setInterval', 'clearInterval'] });
	render(<Time at="2026-11-21T20:30:00Z" relative />);
	await expect.poll(() => screen.getByTitle('2026-11-21T20:30:00Z').textContent).toBe('5 seconds ago');
	vi.advanceTimersByTime(60_000);
	await expect.poll(() => screen.getByTitle('2026-11-21T20:30:00Z').textContent).toBe('1 minute ago');
});

test('a missing time is a dash', () => {
	render(<Time at={null} />);
	expect(screen.getByText('–')).toBeTruthy();
});

test('a value is copied, or the button reports that copying failed', async () => {
	const user = userEvent.setup();
	render(<CopyableText value="txn_1" />);
	await user.click(screen.getByRole('button', { name: 'Copy' }));
	await screen.findByRole('button', { name: 'Copied' });
	expect(await navigator.clipboard.readText()).toBe('txn_1');
	vi.spyOn(navigator.clipboard, 'writeText').mockRejectedValue(new DOMException('no', 'NotAllowedError'));
	await user.click(screen.getByRole('button'));
	await screen.findByRole('button', { name: /does not allow copying/ });
});
