import { render, screen } from '@testing-library/preact';
import { expect, test } from 'vitest';
import type { Schemas } from '../api/client';
import { CompareAttempts } from './CompareAttempts';

function attempt(n: number, mode = 'sandbox'): Schemas['Attempt'] {
	return {
		...{ attempt: n, at: `2026-11-21T03:3${n}:00.000Z`, duration_ms: 4, stage: 'status', http_status: 503, error: 'busy' },
		...{ response_body: 'busy', response_headers: [], response_headers_truncated: false },
		request_headers: [
			{ name: 'X-SERVICE-Attempt', value: String(n) },
			{ name: 'X-SERVICE-Mode', value: mode },
			{ name: 'X-SERVICE-Signature', value: `t=179523225${n},v1=${n}` },
		],
	};
}

test('attempts that differ in number and signature only are the same', () => {
	render(<CompareAttempts attempts={[attempt(1), attempt(2)]} />);
	expect(screen.getByText('No differences.')).toBeTruthy();
});

test('another header that differs is shown, without number and signature', () => {
	render(<CompareAttempts attempts={[attempt(1), attempt(2, 'live')]} />);
	expect(screen.getAllByRole('rowheader').map((header) => header.textContent)).toEqual([expect.stringContaining('X-SERVICE-Mode')]);
});

test('an attempt is compared with another one, never with itself', () => {
	const { unmount } = render(<CompareAttempts attempts={[attempt(1), attempt(2)]} />);
	expect(screen.queryByRole('combobox')).toBeNull();
	unmount();
	render(<CompareAttempts attempts={[attempt(1), attempt(2), attempt(3)]} />);
	const offered = (label: string) => [...screen.getByLabelText<HTMLSelectElement>(label).options].map(({ value }) => value);
	expect([offered('Attempt'), offered('Compared with')]).toEqual([
		['1', '2'],
		['1', '3'],
	]);
});
