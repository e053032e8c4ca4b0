import { QueryClientProvider } from '@tanstack/preact-query';
import { render } from 'preact';
import { App } from './App';
import { queries } from './api/queries';
import './style/tokens.css';
import './style/base.css';
import './style/parts.css';

const root = document.getElementById('app');
if (root) {
	render(
		<QueryClientProvider client={queries}>
			<App />
		</QueryClientProvider>,
		root,
	);
}
