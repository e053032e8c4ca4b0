import type { ComponentChildren, JSX } from 'preact';

/** Sorted is how a column sorts the rows. now is the direction; undefined if another column sorts them. */
export interface Sorted {
	now: 'ascending' | 'descending' | undefined;
	toggle: () => void;
}

/** Column is one column of a table of T. */
export interface Column<T> {
	name: string;
	/** figure aligns the column to the right, with digits of equal width. */
	figure?: boolean;
	/** sort makes the heading a button that sorts the rows. */
	sort?: Sorted;
	show: (row: T) => ComponentChildren;
}

const arrows = { ascending: '↑', descending: '↓' } as const;

/**
 * Table shows rows of one type. It scrolls horizontally if it is wider than the page. caption is for screen
 * readers only.
 */
export function Table<T>(props: {
	caption: string;
	rows: readonly T[];
	id: (row: T) => string;
	columns: readonly Column<T>[];
}): JSX.Element {
	return (
		// biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
		<section class="scroll" tabIndex={0} aria-label={props.caption}>
			<table>
				<caption class="unseen">{props.caption}</caption>
				<thead>
					<tr>
						{props.columns.map((column) => (
							<th key={column.name} scope="col" class={column.figure ? 'figure' : undefined} aria-sort={column.sort?.now}>
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
				<tbody>
					{props.rows.map((row) => (
						<tr key={props.id(row)}>
							{props.columns.map((column) => (
								<td key={column.name} class={column.figure ? 'figure' : undefined}>
									{column.show(row)}
								</td>
							))}
						</tr>
					))}
				</tbody>
			</table>
		</section>
	);
}
