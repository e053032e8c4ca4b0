import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';
import { Link } from 'wouter-preact';
import './choice.css';

/** Choice is a labelled choice of one of a few, all of them in sight. */
export function Choice<V extends string>(props: {
	label: string;
	value: V;
	options: readonly (readonly [value: V, text: string])[];
	onChange: (value: V) => void;
	hint?: string;
}): JSX.Element {
	const name = useId();
	return (
		<fieldset class="choice">
			<legend>{props.label}</legend>
			{props.options.map(([value, text]) => (
				<label key={value}>
					<input type="radio" name={name} value={value} checked={value === props.value} onChange={() => props.onChange(value)} />
					<span>{text}</span>
				</label>
			))}
			{props.hint && <p class="hint">{props.hint}</p>}
		</fieldset>
	);
}

/** Tabs are links to views of one page; the one that is shown says so. */
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
