import { QueryClientProvider } from '@tanstack/preact-query';
import { render } from 'preact';
import { App } from './App';
import { queries } from './api/queries';
import { preferredLanguage, showLanguage } from './i18n';
import './style/tokens.css';
import './style/base.css';
import './style/parts.css';
import './style/shell.css';
import './style/tables.css';
import './style/cards.css';
import './style/rows.css';
import './style/print.css';

function start(root: HTMLElement): void {
	render(
		<QueryClientProvider client={queries}>
			<App />
		</QueryClientProvider>,
		root,
	);
}

const root = document.getElementById('app');
if (root) {
	// If the texts cannot be fetched, the page is in English.
	void showLanguage(preferredLanguage())
		.catch(console.error)
		.finally(() => start(root));
}
