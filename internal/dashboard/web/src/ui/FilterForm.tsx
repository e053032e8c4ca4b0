import type { ComponentChildren, JSX } from 'preact';
import { useId, useState } from 'preact/hooks';
import { t } from '../i18n';
import './field.css';

/**
 * FilterForm has the filters of a list, and a button that resets them. On a phone it is folded behind a button with the
 * number of filters in use, so that the list is in sight.
 */
export function FilterForm(props: {
	/** values are the filters of the page. An empty value is none. */
	values: Record<string, string | undefined>;
	reset: () => void;
	label?: string;
	class?: string;
	children: ComponentChildren;
}): JSX.Element {
	const id = useId();
	const [open, setOpen] = useState(false);
	const used = Object.values(props.values).filter(Boolean).length;
	return (
		<>
			<button type="button" class="fold" aria-expanded={open} aria-controls={id} onClick={() => setOpen(!open)}>
				{t('action.filters')}
				{used > 0 && ` (${used})`}
			</button>
			<form
				id={id}
				class={`filters folded ${open ? 'open' : ''} ${props.class ?? ''}`}
				aria-label={props.label ?? t('action.filters')}
				onSubmit={(event) => event.preventDefault()}
			>
				{props.children}
				{used > 0 && (
					<button type="button" class="quiet" onClick={props.reset}>
						{t('action.reset')}
					</button>
				)}
			</form>
		</>
	);
}
