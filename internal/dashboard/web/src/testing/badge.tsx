import { render, screen } from '@testing-library/preact';
import type { JSX } from 'preact';
import { expect } from 'vitest';
import type { Tone } from '../ui/Badge';

/** Shown is the text and the tone of a badge. */
export type Shown = readonly [text: string, tone: Tone];

/** expectBadge fails unless a badge is one text with a tone. Screen readers read the text: it has no role and no other name. */
export function expectBadge(badge: JSX.Element, [text, tone]: Shown): void {
	const { container } = render(badge);
	const shown = screen.getByText(text);
	expect(container.textContent).toBe(text);
	expect(shown.className).toBe(`badge ${tone}`);
	expect(shown.closest('[role], [aria-label], [aria-hidden], [title]')).toBeNull();
}

/** entries are the states of a table. A new state of the contract does not compile before it is in the table. */
export function entries<State extends string>(table: Record<State, Shown>): [state: State, shown: Shown][] {
	return Object.entries(table) as [State, Shown][];
}
