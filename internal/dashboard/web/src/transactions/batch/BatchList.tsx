import type { JSX } from 'preact';
import { Link } from 'wouter-preact';
import { api, type Schemas, unwrap } from '../../api/client';
import { range } from '../../dates';
import { number } from '../../format';
import { t } from '../../i18n';
import { hasScope } from '../../session';
import { Time } from '../../ui/Badge';
import { Rows, useList } from '../../ui/List';
import { Page } from '../../ui/Page';
import { Table } from '../../ui/Table';
import { Tabs } from '../../ui/Tabs';
import { useFilters } from '../../ui/useFilters';
import { BatchBadge } from '../StatusBadge';
import { Filters } from '../TransactionFilters';
import { Progress } from './BatchProgress';
import { kindOf } from './kind';
import '../transactions.css';

const states = { recharge: ['queued', 'processing', 'completed'], verification: ['queued', 'processing', 'completed', 'expired'] } as const;

type Any = Schemas['Batch'] | Schemas['VerificationBatch'];

/** Batches lists the batches of one kind (recharge or verification). */
export function Batches(): JSX.Element {
	const [filters, change] = useFilters(['kind', 'status', 'from', 'to', 'ref_id']);
	const wanted = kindOf(filters.kind);
	// A key that may read one kind only gets that kind.
	const kind = wanted === 'recharge' && !hasScope('recharge:read') && hasScope('verify:read') ? 'verification' : wanted;
	const state = (states[kind] as readonly Schemas['VerificationBatchState'][]).find((one) => one === filters.status);
	const query = { ...(filters.ref_id && { ref_id: filters.ref_id }), ...range(filters) };
	const list = useList<Any>(['batches', kind, state, query], (cursor, signal) => {
		const page = { ...query, limit: 50, ...(cursor && { cursor }) };
		if (kind === 'recharge') {
			const of = state === 'expired' ? undefined : state;
			return unwrap(api.GET('/v1/recharge/batch', { params: { query: { ...page, ...(of && { state: of }) } }, signal }));
		}
		return unwrap(api.GET('/v1/verification/batch', { params: { query: { ...page, ...(state && { state }) } }, signal }));
	});
	return (
		<Page
			title={t('shell.batches')}
			actions={
				hasScope(kind === 'recharge' ? 'recharge:write' : 'verify:write') && (
					<Link href={`/batches/new?kind=${kind}`} class="primary">
						{t('batch.new')}
					</Link>
				)
			}
		>
			<Tabs
				label={t('batch.kind')}
				at={kind}
				tabs={[
					['recharge', '/batches', t('batch.kind.recharge')],
					['verification', '/batches?kind=verification', t('batch.kind.verification')],
				]}
			/>
			<Filters states={states[kind].map((one) => [one, t(`batch.state.${one}`)])} values={filters} change={change} />
			<Rows list={list} empty={t('batch.none')} hint={<p>{t('batch.none.hint')}</p>}>
				{(rows) => (
					<Table
						compact
						caption={t('shell.batches')}
						rows={rows}
						id={(row) => row.batch_id}
						columns={[
							{
								name: t('batch.one'),
								show: (row) => (
									<Link class="id" href={`/batches/${row.batch_id}`}>
										{row.ref_id ?? row.batch_id}
									</Link>
								),
							},
							{ name: t('transactions.state'), phone: 'top', show: (row) => <BatchBadge state={row.state} /> },
							{ name: t('batch.progress'), phone: 'line', show: (row) => <Progress batch={row} kind={kind} small /> },
							{ name: t(`batch.failed.${kind}`), figure: true, phone: 'labelled', show: (row) => number(row.failed) },
							{ name: t('transactions.created'), phone: 'end', show: (row) => <Time at={row.created_at} /> },
						]}
					/>
				)}
			</Rows>
		</Page>
	);
}
