import type { ComponentChildren, JSX } from 'preact';
import { Link } from 'wouter-preact';
import './tabs.css';

/** Tabs are links to views of one page. The current one is marked. */
export function Tabs(props: {
	label: string;
	at: string;
	tabs: readonly (readonly [value: string, to: string, text: ComponentChildren])[];
}): JSX.Element {
	return (
		<nav class="tabs" aria-label={props.label}>
			{props.tabs.map(([value, to, text]) => (
				<Link key={value} href={to} aria-current={value === props.at ? 'page' : undefined}>
					{text}
				</Link>
			))}
		</nav>
	);
}
