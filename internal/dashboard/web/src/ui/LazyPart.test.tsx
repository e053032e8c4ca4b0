import { render, screen } from '@testing-library/preact';
import userEvent from '@testing-library/user-event';
import type { JSX } from 'preact';
import { lazy } from 'preact/compat';
import { expect, test, vi } from 'vitest';
import { isConnected } from '../api/liveStream';
import { LazyPart } from './LazyPart';

const Greeting = (props: { name: string }): JSX.Element => <p>Hello {props.name}</p>;

test('shows a loading message, then the component with its properties', async () => {
	const Lazy = lazy(async () => Greeting);
	render(
		<LazyPart>
			<Lazy name="Asha" />
		</LazyPart>,
	);
	expect(screen.getByRole('status').textContent).toContain('Loading');
	expect(await screen.findByText('Hello Asha')).toBeTruthy();
});

test('a script that fails to load leaves a message, a retry button, and the rest of the page', async () => {
	vi.spyOn(console, 'error').mockReturnValue();
	const reload = vi.spyOn(location, 'reload').mockReturnValue();
	const Lazy = lazy((): Promise<typeof Greeting> => Promise.reject(new TypeError('Failed to fetch dynamically imported module')));
	render(
		<>
			<nav>Main</nav>
			<LazyPart>
				<Lazy name="Asha" />
			</LazyPart>
		</>,
	);
	const alert = await screen.findByRole('alert');
	expect(alert.textContent).toContain('This part cannot be shown');
	expect(screen.getByRole('navigation')).toBeTruthy();
	await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
	expect(reload).toHaveBeenCalledOnce();
});

test('a script that failed to load is fetched again when the service answers again', async () => {
	vi.spyOn(console, 'error').mockReturnValue();
	const reload = vi.spyOn(location, 'reload').mockReturnValue();
	reload.mockClear();
	const Lazy = lazy((): Promise<typeof Greeting> => Promise.reject(new TypeError('Failed to fetch dynamically imported module')));
	isConnected.value = false;
	render(
		<LazyPart>
			<Lazy name="Asha" />
		</LazyPart>,
	);
	await screen.findByRole('alert');
	expect(reload).not.toHaveBeenCalled();
	isConnected.value = true;
	expect(reload).toHaveBeenCalledOnce();
});

test('a component that throws while rendering leaves the same message', async () => {
	vi.spyOn(console, 'error').mockReturnValue();
	const Broken = (): JSX.Element => {
		throw new Error('no such property');
	};
	render(
		<LazyPart>
			<Broken />
		</LazyPart>,
	);
	expect((await screen.findByRole('alert')).textContent).toContain('This part cannot be shown');
});
