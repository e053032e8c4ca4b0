import type { ComponentChildren, JSX } from 'preact';
import { useId, useState } from 'preact/hooks';
import { number } from '../format';
import { t } from '../i18n';
import { useNarrow } from './useNarrow';
import './field.css';

/** Filters is a form whose fields take effect at once. Enter sends nothing. */
export function Filters(props: { id?: string; class: string; label?: string; children: ComponentChildren }): JSX.Element {
	return (
		<form id={props.id} class={props.class} aria-label={props.label} onSubmit={(event) => event.preventDefault()}>
			{props.children}
		</form>
	);
}

/**
 * FilterForm has the filters of a list, and a button that resets them beside the number of filters in use. On a phone the
 * filters are folded behind a button with their number, so that the list is in sight; a search is not, and does not count.
 * The other button that resets them is hidden.
 */
export function FilterForm(props: {
	/** values are the filters of the page. An empty value means no filter. */
	values: Record<string, string | undefined>;
	reset: () => void;
	label?: string;
	/** search is the first field. It stands above the folded filters on a phone. */
	search?: ComponentChildren;
	/** searched is true if the search is one of the values. */
	searched?: boolean;
	/** hint is about the search. It has a line of its own, and the id that describes the search. */
	hint?: { id: string; text: string } | undefined;
	children: ComponentChildren;
}): JSX.Element {
	const id = useId();
	const [open, setOpen] = useState(false);
	const used = Object.values(props.values).filter(Boolean).length;
	const folded = used - (props.searched ? 1 : 0);
	const narrow = useNarrow();
	const reset = used > 0 && (
		<button type="button" class={narrow ? 'quiet' : 'small'} onClick={props.reset}>
			{t('action.reset')}
		</button>
	);
	const hint = props.hint && (
		<p class="hint" id={props.hint.id}>
			{props.hint.text}
		</p>
	);
	return (
		<>
			{narrow && props.search && (
				<Filters class="filters folded open">
					{props.search}
					{hint}
				</Filters>
			)}
			<div class="fold-row">
				<button type="button" aria-expanded={open} aria-controls={id} onClick={() => setOpen(!open)}>
					{t('action.filters')}
					{folded > 0 && ` (${folded})`}
				</button>
				{reset}
			</div>
			<Filters id={id} class={`filters folded ${open ? 'open' : ''}`} label={props.label ?? t('action.filters')}>
				{!narrow && props.search}
				{props.children}
				{!narrow && (hint || used > 0) && (
					<div class="below">
						{hint}
						{used > 0 && (
							<p class="hint used">
								{used === 1 ? t('action.filters.used.one') : t('action.filters.used', { count: number(used) })} {reset}
							</p>
						)}
					</div>
				)}
			</Filters>
		</>
	);
}
