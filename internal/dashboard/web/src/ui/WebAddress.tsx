import type { JSX } from 'preact';
import { Breakable } from './Breakable';

/** shortened returns a URL without its scheme, and without its middle if it is long. Its end tells URLs of one host apart. */
export function shortened(url: string): string {
	const text = url.replace(/^https?:\/\//, '');
	return text.length <= 42 ? text : `${text.slice(0, 22)}…${text.slice(-18)}`;
}

/**
 * WebAddress shows a URL, whole or short. A line ends after a separator, and inside a part only if the part is wider than the
 * line. The title has the whole.
 */
export function WebAddress(props: { of: string; short?: boolean }): JSX.Element {
	const text = props.short ? shortened(props.of) : props.of;
	return (
		<span class="web-address" title={props.of}>
			<Breakable of={text} />
		</span>
	);
}
