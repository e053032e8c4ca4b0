// biome-ignore-all lint/a11y/noRedundantRoles: on phones the display of a table's elements changes, and a browser may then forget their roles
import type { ComponentChildren, JSX } from 'preact';

/** Sorted is how a column sorts the rows. now is the direction; undefined if another column sorts them. */
export interface Sorted {
	now: 'ascending' | 'descending' | undefined;
	toggle: () => void;
}

type Phone = 'labelled' | 'line' | 'top' | 'end' | 'labelled end' | 'labelled line';

/** Column is one column of a table of T. */
export interface Column<T> {
	name: string;
	/** figure aligns the column to the right, with digits of equal width. */
	figure?: boolean;
	/** heading makes the cells the headings of the cards on phones; without one, the first column has them. */
	heading?: boolean;
	/**
	 * phone is how a compact row shows the cells on a phone: with the name of the column, in a line of their own, at the end of
	 * the heading's line, or at the end of a line below it.
	 */
	phone?: Phone;
	/** sort makes the heading a button that sorts the rows. */
	sort?: Sorted;
	show: (row: T) => ComponentChildren;
}

const arrows = { ascending: '↑', descending: '↓' } as const;

/**
 * Cell is a cell of a table. On phones each row is a card, in which a cell has its label beside it. In a compact table only
 * labelled cells have it. A cell without a value is hidden there.
 */
export function Cell(props: {
	label?: string | undefined;
	figure?: boolean | undefined;
	heading?: boolean | undefined;
	phone?: Phone | undefined;
	class?: string | undefined;
	children: ComponentChildren;
}): JSX.Element {
	const { children } = props;
	const empty = children === '–' || children === '' || children === false || children === null || children === undefined;
	const names = [props.class, props.figure && 'figure', props.phone, props.heading && 'heading', empty && 'empty']
		.filter(Boolean)
		.join(' ');
	return (
		<td role="cell" class={names || undefined} data-label={props.label}>
			<div>{children}</div>
		</td>
	);
}

/**
 * Table shows rows of one type. On phones each row is a card, and in a compact table a few lines. A wider table scrolls
 * horizontally. caption is for screen readers only.
 */
export function Table<T>(props: {
	caption: string;
	rows: readonly T[];
	id: (row: T) => string;
	columns: readonly Column<T>[];
	compact?: boolean;
}): JSX.Element {
	const heading = props.columns.find((column) => column.heading) ?? props.columns[0];
	return (
		// biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
		<section class={`scroll listed ${props.compact ? 'compact' : ''}`} tabIndex={0} aria-label={props.caption}>
			<table role="table">
				<caption class="unseen">{props.caption}</caption>
				<thead role="rowgroup">
					<tr role="row">
						{props.columns.map((column) => (
							<th
								key={column.name}
								role="columnheader"
								scope="col"
								class={column.figure ? 'figure' : undefined}
								aria-sort={column.sort?.now}
							>
								{column.sort ? (
									<button type="button" class="sort" onClick={column.sort.toggle}>
										{column.name} <span aria-hidden="true">{column.sort.now ? arrows[column.sort.now] : '↕'}</span>
									</button>
								) : (
									column.name
								)}
							</th>
						))}
					</tr>
				</thead>
				<tbody role="rowgroup">
					{props.rows.map((row) => (
						<tr key={props.id(row)} role="row">
							{props.columns.map((column) => (
								<Cell key={column.name} label={column.name} figure={column.figure} phone={column.phone} heading={column === heading}>
									{column.show(row)}
								</Cell>
							))}
						</tr>
					))}
				</tbody>
			</table>
		</section>
	);
}
