import { render, screen } from '@testing-library/preact';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test, vi } from 'vitest';
import { type Choice, Combobox } from './Combobox';

const cities: Choice[] = [
	{ id: 'Mumbai', text: 'Mumbai', note: 'Maharashtra' },
	{ id: 'Madurai', text: 'Madurai' },
	{ id: 'Manesar', text: 'Manesar' },
];

const [onType, onChoose, onEnter] = [vi.fn(), vi.fn(), vi.fn()];

function show(choices: readonly Choice[] = cities) {
	return <Combobox label="City" choices={choices} announcement={`${choices.length} suggestions`} {...{ onType, onChoose, onEnter }} />;
}

const input = () => screen.getByRole<HTMLInputElement>('combobox', { name: 'City' });

function marked(): string {
	const id = input().getAttribute('aria-activedescendant');
	return (id && document.querySelector(`[id="${id}"][aria-selected="true"]`)?.textContent) ?? '';
}

beforeEach(() => {
	vi.resetAllMocks();
	// The test environment has no layout, and the library selects only elements with a size.
	vi.spyOn(HTMLElement.prototype, 'offsetWidth', 'get').mockReturnValue(1);
});

test('typing opens the list and announces the number of suggestions', async () => {
	render(show());
	expect(input().getAttribute('aria-expanded')).toBe('false');
	await userEvent.type(input(), 'ma ');
	expect(input().getAttribute('aria-expanded')).toBe('true');
	expect(onType).toHaveBeenLastCalledWith('ma');
	expect(screen.getByRole('status').textContent).toBe('3 suggestions');
	expect(screen.getByRole('listbox', { name: 'City' }).id).toBe(input().getAttribute('aria-controls'));
});

test('arrow keys select one after the other, and none beyond both ends', async () => {
	render(show());
	await userEvent.type(input(), 'ma');
	const seen: string[] = [];
	for (const key of ['Down', 'Down', 'Up', 'Up', 'Up']) {
		await userEvent.keyboard(`{Arrow${key}}`);
		seen.push(marked());
	}
	expect(seen).toEqual(['MumbaiMaharashtra', 'Madurai', 'MumbaiMaharashtra', '', 'Manesar']);
});

test('Enter chooses the selected one and empties the input', async () => {
	render(show());
	await userEvent.type(input(), 'ma{ArrowDown}{ArrowDown}{Enter}');
	expect(onChoose.mock.calls).toEqual([[cities[1]]]);
	expect(onEnter).not.toHaveBeenCalled();
	expect(input().value).toBe('');
	expect(input().getAttribute('aria-expanded')).toBe('false');
});

test('Enter submits the text if none is selected', async () => {
	render(show([]));
	await userEvent.type(input(), ' Banglore {Enter}');
	expect(onEnter.mock.calls).toEqual([['Banglore']]);
});

test('a click chooses', async () => {
	render(show());
	await userEvent.type(input(), 'ma');
	await userEvent.click(screen.getByRole('option', { name: /Manesar/ }));
	expect(onChoose.mock.calls).toEqual([[cities[2]]]);
});

test('Escape closes the list, and empties the input if the list is closed', async () => {
	render(show());
	await userEvent.type(input(), 'ma{ArrowDown}{Escape}');
	expect(input().getAttribute('aria-expanded')).toBe('false');
	expect(marked()).toBe('');
	expect(input().value).toBe('ma');
	await userEvent.keyboard('{Escape}');
	expect(input().value).toBe('');
});

test('new suggestions reset the selection', async () => {
	const { rerender } = render(show());
	await userEvent.type(input(), 'ma{ArrowDown}');
	rerender(show(cities.slice(0, 2)));
	expect(marked()).toBe('');
});
