import type { ComponentChildren, JSX } from 'preact';
import { Link } from 'wouter-preact';
import { Select } from './Field';
import { useNarrow } from './useNarrow';
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

/**
 * ChoiceTabs choose one of many views. In a narrow window, which has no room for them, they are a drop-down list, so that
 * the chosen one is always in view. If value is undefined, none is chosen.
 */
export function ChoiceTabs<V extends string>(props: {
	label: string;
	value: V | undefined;
	options: readonly (readonly [value: V, text: string])[];
	change: (value: V) => void;
}): JSX.Element {
	const { label, value, options, change } = props;
	if (useNarrow()) {
		return (
			<div class="narrow-tabs">
				<Select<V | ''> label={label} value={value ?? ''} options={options} change={(chosen) => chosen && change(chosen)} />
			</div>
		);
	}
	return (
		<nav class="tabs" aria-label={label}>
			{options.map(([one, text]) => (
				<button key={one} type="button" aria-current={one === value ? 'page' : undefined} onClick={() => change(one)}>
					{text}
				</button>
			))}
		</nav>
	);
}
