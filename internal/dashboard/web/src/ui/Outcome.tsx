import type { ComponentChildren, JSX } from 'preact';
import type { Tone } from './Badge';
import './outcome.css';

/**
 * Outcome is the box at the beginning of a record that says how it ended: a badge, one sentence, and the reasons below. Screen
 * readers announce a change of the sentence.
 */
export function Outcome(props: {
	tone: Tone;
	badge: ComponentChildren;
	says: ComponentChildren;
	children?: ComponentChildren;
}): JSX.Element {
	return (
		<div class={`outcome ${props.tone}`}>
			<p class="says" role="status">
				{props.badge} <span>{props.says}</span>
			</p>
			{props.children}
		</div>
	);
}
