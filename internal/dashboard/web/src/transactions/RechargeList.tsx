import type { JSX } from 'preact';
import { Link } from 'wouter-preact';
import { api, type Schemas, unwrap } from '../api/client';
import { range } from '../dates';
import { rupees } from '../format';
import { t } from '../i18n';
import { hasScope } from '../session';
import { Time } from '../ui/Badge';
import { Rows, useList } from '../ui/List';
import { Page } from '../ui/Page';
import { Table } from '../ui/Table';
import { useFilters } from '../ui/useFilters';
import { RechargeBadge } from './StatusBadge';
import { Filters } from './TransactionFilters';
import './transactions.css';

const states = ['pending', 'success', 'failed', 'refunded'] as const;

function stateOf(text: string | undefined): Schemas['RechargeState'] | undefined {
	return states.find((state) => state === text);
}

/** Recharges lists recharges. The address holds the filters. */
export function Recharges(): JSX.Element {
	const [filters, change] = useFilters(['status', 'from', 'to', 'ref_id', 'batch_id']);
	const status = stateOf(filters.status);
	const query = {
		...(status && { status }),
		...(filters.ref_id && { ref_id: filters.ref_id }),
		...(filters.batch_id && { batch_id: filters.batch_id }),
		...range(filters),
	};
	const list = useList(['recharges', 'list', query], (cursor, signal) =>
		unwrap(api.GET('/v1/recharge', { params: { query: { ...query, limit: 50, ...(cursor && { cursor }) } }, signal })),
	);
	return (
		<Page
			title={t('shell.recharges')}
			actions={
				hasScope('recharge:write') && (
					<Link href="/recharges/new" class="primary">
						{t('recharge.new')}
					</Link>
				)
			}
		>
			<Filters states={states.map((state) => [state, t(`recharge.state.${state}`)])} values={filters} change={change} />
			{filters.batch_id && (
				<p class="note">
					{t('transactions.filter.batch')} <Link href={`/batches/${encodeURIComponent(filters.batch_id)}`}>{filters.batch_id}</Link>{' '}
					<button type="button" class="small" onClick={() => change({ batch_id: '' })}>
						{t('action.reset')}
					</button>
				</p>
			)}
			<Rows list={list} empty={t('recharge.none')} hint={<p>{t('recharge.none.hint')}</p>}>
				{(rows) => <RechargeTable rows={rows} />}
			</Rows>
		</Page>
	);
}

/** RechargeTable shows recharges with links to their pages. */
export function RechargeTable(props: { rows: readonly Schemas['Recharge'][] }): JSX.Element {
	return (
		<Table
			caption={t('shell.recharges')}
			rows={props.rows}
			id={(row) => row.transaction_id}
			columns={[
				{ name: t('recharge.number'), show: (row) => <Link href={`/recharges/${row.transaction_id}`}>{row.mobile}</Link> },
				{ name: t('transactions.amount'), figure: true, show: (row) => rupees(row.amount) },
				{ name: t('transactions.state'), show: (row) => <RechargeBadge state={row.status} /> },
				{ name: t('recharge.operator'), show: (row) => (row.circle ? `${row.operator}, ${row.circle}` : row.operator) },
				{ name: t('transactions.ref'), show: (row) => <span class="id">{row.ref_id}</span> },
				{ name: t('transactions.created'), show: (row) => <Time at={row.created_at} /> },
			]}
		/>
	);
}
