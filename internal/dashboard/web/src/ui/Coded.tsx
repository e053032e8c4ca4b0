import type { JSX } from 'preact';

/** Coded shows a text, with what stands between backticks as code. */
export function Coded(props: { text: string | undefined }): JSX.Element {
	return <>{props.text?.split('`').map((part, index) => (index % 2 === 1 ? <code key={part}>{part}</code> : part))}</>;
}
