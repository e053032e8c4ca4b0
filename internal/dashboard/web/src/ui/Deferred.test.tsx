import { act, render, screen } from '@testing-library/preact';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { queries } from '../api/queries';
import { Deferred } from './Deferred';

/** look reports to the newest observer whether its element is near the window. */
let look: (isIntersecting: boolean) => void;
let observers = 0;

beforeEach(() => {
	observers = 0;
	vi.useFakeTimers();
	vi.stubGlobal(
		'IntersectionObserver',
		class {
			constructor(seen: (entries: { isIntersecting: boolean }[]) => void) {
				observers++;
				look = (isIntersecting) => seen([{ isIntersecting }]);
			}
			observe() {}
			disconnect() {}
		},
	);
});
afterEach(() => {
	vi.useRealTimers();
	vi.unstubAllGlobals();
	vi.restoreAllMocks();
});

const part = (first?: boolean) => (
	<Deferred height="10rem" {...(first !== undefined && { first })}>
		{() => <p>figures</p>}
	</Deferred>
);
const shown = () => screen.queryByText('figures') !== null;

test('children are drawn when they come near the window, and stay', () => {
	render(part());
	act(() => look(false));
	expect(shown()).toBe(false);
	act(() => look(true));
	expect(shown()).toBe(true);
	act(() => look(false));
	expect(shown()).toBe(true);
});

test('children are drawn when the page is idle, and not while it fetches', async () => {
	const fetching = vi.spyOn(queries, 'isFetching').mockReturnValue(1);
	render(part());
	await act(async () => void (await vi.advanceTimersByTimeAsync(10_000)));
	expect(shown()).toBe(false);
	fetching.mockReturnValue(0);
	await act(async () => void (await vi.advanceTimersByTimeAsync(2_000)));
	expect(shown()).toBe(true);
});

test('children are not drawn before the content above them', async () => {
	const { rerender } = render(part(false));
	await act(async () => void (await vi.advanceTimersByTimeAsync(10_000)));
	expect(observers).toBe(0);
	expect(shown()).toBe(false);
	rerender(part(true));
	expect(shown()).toBe(true);
});
