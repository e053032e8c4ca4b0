import { effect, signal } from '@preact/signals';

/** Theme is the colour scheme. */
export type Theme = 'system' | 'light' | 'dark';

const kept = 'vayu-theme';

function first(): Theme {
	const stored = localStorage.getItem(kept);
	return stored === 'light' || stored === 'dark' ? stored : 'system';
}

/** theme is the colour scheme stored in this browser. */
export const theme = signal<Theme>(first());

effect(() => {
	document.documentElement.dataset.theme = theme.value;
	localStorage.setItem(kept, theme.value);
});
