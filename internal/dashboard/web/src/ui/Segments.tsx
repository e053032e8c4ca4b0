import type { JSX } from 'preact';
import './segments.css';

/** Segments selects one of a few views by adjacent buttons. label is for screen readers. */
export function Segments<V extends string>(props: {
	label: string;
	value: V;
	options: readonly (readonly [value: V, text: string])[];
	change: (value: V) => void;
}): JSX.Element {
	return (
		<fieldset class="segments">
			<legend class="unseen">{props.label}</legend>
			{props.options.map(([value, text]) => (
				<button key={value} type="button" aria-pressed={value === props.value} onClick={() => props.change(value)}>
					{text}
				</button>
			))}
		</fieldset>
	);
}
