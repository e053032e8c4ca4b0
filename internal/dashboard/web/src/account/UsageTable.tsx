import type { ComponentChildren, JSX } from 'preact';
import { number } from '../format';
import { t } from '../i18n';
import { sessionState } from '../session';
import { type Column, Table } from '../ui/Table';
import type { Sum } from './sums';

/** Part is a part of the calls: those of an operation, a key or a day. */
export type Part = Sum & { id: string; name: ComponentChildren };

/** isSandbox reports whether the session is one of the sandbox, in which no call counts towards a quota. */
export function isSandbox(): boolean {
	const now = sessionState.value;
	return now.at === 'in' && now.current.mode === 'sandbox';
}

/** UsageTable shows the calls of each part, and below two or more of them the total. */
export function UsageTable(props: { caption: string; column: string; rows: readonly Part[]; total: Sum }): JSX.Element {
	const { caption, column, rows, total } = props;
	const last = { ...total, id: 'total', name: <strong>{t('account.calls.total')}</strong> };
	const figures = [
		['account.calls.calls', (sum: Sum) => sum.calls],
		['account.calls.failed', (sum: Sum) => sum.failed],
		...(isSandbox() ? [] : ([['account.calls.counted', (sum: Sum) => sum.counted]] as const)),
	] as const;
	return (
		<Table
			compact
			caption={caption}
			rows={rows.length > 1 ? [...rows, last] : rows}
			id={(row) => row.id}
			columns={[
				{ name: column, show: (row) => row.name },
				...figures.map(([name, of]): Column<Part> => ({ name: t(name), figure: true, phone: 'labelled', show: (row) => number(of(row)) })),
			]}
		/>
	);
}
