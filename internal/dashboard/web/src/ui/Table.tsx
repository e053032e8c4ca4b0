import type { ComponentChildren, JSX } from 'preact';

/** Column is one column of a table of T. */
export interface Column<T> {
	name: string;
	/** figure aligns the column to the right, with digits of equal width. */
	figure?: boolean;
	show: (row: T) => ComponentChildren;
}

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
							<th key={column.name} scope="col" class={column.figure ? 'figure' : undefined}>
								{column.name}
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
