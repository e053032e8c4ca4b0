import { fireEvent, render, screen } from '@testing-library/preact';
import { afterEach, expect, test, vi } from 'vitest';
import { ChoiceTabs } from './Tabs';

afterEach(() => vi.restoreAllMocks());

const options = [
	['all', 'All (3)'],
	['failed', 'Failed (1)'],
] as const;

function inWindow(narrow: boolean): void {
	vi.spyOn(window, 'matchMedia').mockImplementation(
		() => Object.assign(new EventTarget(), { matches: narrow }) as unknown as MediaQueryList,
	);
}

test('in a wide window tabs are buttons, and the chosen one is marked', () => {
	inWindow(false);
	const change = vi.fn();
	render(<ChoiceTabs label="Records" value="failed" options={options} change={change} />);
	expect(screen.getByRole('button', { current: 'page' }).textContent).toBe('Failed (1)');
	fireEvent.click(screen.getByRole('button', { name: 'All (3)' }));
	expect(change).toHaveBeenCalledWith('all');
});

test('in a narrow window tabs are a list, which shows the chosen one', () => {
	inWindow(true);
	const change = vi.fn();
	render(<ChoiceTabs label="Records" value="failed" options={options} change={change} />);
	const list = screen.getByLabelText<HTMLSelectElement>('Records');
	expect(list.selectedOptions[0]?.textContent).toBe('Failed (1)');
	fireEvent.change(list, { target: { value: 'all' } });
	expect(change).toHaveBeenCalledWith('all');
});
