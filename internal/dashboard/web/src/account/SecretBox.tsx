import type { ComponentChildren, JSX } from 'preact';
import { Copy } from '../ui/Badge';

/** SecretBox shows a secret that cannot be shown again, and a button that copies it. copied is called after each copy. */
export function SecretBox(props: { title?: string; value: string; copied?: () => void; children?: ComponentChildren }): JSX.Element {
	return (
		<div class="secret">
			{props.title && <h3>{props.title}</h3>}
			{props.children}
			<code>{props.value}</code>
			<Copy value={props.value} tone="primary" {...(props.copied ? { copied: props.copied } : {})} />
		</div>
	);
}
