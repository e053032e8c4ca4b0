import { useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { api, type Schemas, unwrap } from '../../api/client';
import { range } from '../../dates';
import { rupees } from '../../format';
import { t } from '../../i18n';
import { hasScope } from '../../session';
import { Time } from '../../ui/Badge';
import { Fetched } from '../../ui/FetchState';
import { Rows, useList } from '../../ui/List';
import { Card, Page } from '../../ui/Page';
import { Table } from '../../ui/Table';
import { Tabs } from '../../ui/Tabs';
import { useFilters } from '../../ui/useFilters';
import { RechargeTable } from '../RechargeList';
import { PaymentBadge } from '../StatusBadge';
import { Filters } from '../TransactionFilters';
import { Statement } from './Statement';
import { TopUp } from './TopUp';
import { useBalance } from './useBalance';
import '../transactions.css';

/** Wallet shows the available and the held balance with their history. */
export function Wallet(): JSX.Element {
	const [{ show }] = useFilters(['show']);
	const [paying, setPaying] = useState(false);
	const balance = useBalance();
	const at = show === 'payments' ? 'payments' : 'entries';
	return (
		<Page
			title={t('shell.wallet')}
			actions={
				hasScope('recharge:write') && (
					<button type="button" class="primary" onClick={() => setPaying(true)}>
						{t('wallet.topup')}
					</button>
				)
			}
		>
			<Fetched query={balance}>
				{(wallet) => (
					<div class="balances" role="status">
						<Figure name={t('wallet.available')} says={t('wallet.available.what')} amount={wallet.available} />
						<Figure name={t('wallet.held')} says={t('wallet.held.what')} amount={wallet.held} />
						<Figure name={t('wallet.balance')} says={t('wallet.balance.what')} amount={wallet.balance} />
					</div>
				)}
			</Fetched>
			<Pending />
			<Tabs
				label={t('shell.wallet')}
				at={at}
				tabs={[
					['entries', '/wallet', t('wallet.entries')],
					['payments', '/wallet?show=payments', t('wallet.payments')],
				]}
			/>
			{at === 'entries' ? <Statement /> : <Payments />}
			{paying && <TopUp close={() => setPaying(false)} />}
		</Page>
	);
}

function Figure(props: { name: string; says: string; amount: number }): JSX.Element {
	return (
		<div class="card">
			<h2>{props.name}</h2>
			<p class="amount">{rupees(props.amount)}</p>
			<p class="hint">{props.says}</p>
		</div>
	);
}

/** Pending shows open payments into the wallet and open recharges with a held amount. */
function Pending(): JSX.Element | null {
	const payments = useQuery({
		queryKey: ['wallet', 'pending'],
		queryFn: ({ signal }) => unwrap(api.GET('/v1/wallet/topups', { params: { query: { status: 'pending', limit: 20 } }, signal })),
	});
	const recharges = useQuery({
		queryKey: ['recharges', 'pending'],
		queryFn: ({ signal }) => unwrap(api.GET('/v1/recharge', { params: { query: { status: 'pending', limit: 20 } }, signal })),
	});
	if (!payments.data?.data.length && !recharges.data?.data.length) {
		return null;
	}
	return (
		<Card title={t('wallet.pending')}>
			{payments.data && payments.data.data.length > 0 && <PaymentTable rows={payments.data.data} />}
			{recharges.data && recharges.data.data.length > 0 && <RechargeTable rows={recharges.data.data} />}
			{payments.data?.has_more && <Link href="/wallet?show=payments&status=pending">{t('wallet.pending.payments')}</Link>}{' '}
			{recharges.data?.has_more && <Link href="/recharges?status=pending">{t('wallet.pending.all')}</Link>}
		</Card>
	);
}

const states = ['pending', 'success', 'failed'] as const;

function Payments(): JSX.Element {
	const [filters, change] = useFilters(['status', 'from', 'to', 'ref_id', 'id']);
	const status = states.find((state) => state === filters.status);
	const id = filters.id;
	const query = { ...(status && { status }), ...(filters.ref_id && { ref_id: filters.ref_id }), ...range(filters) };
	const list = useList(['wallet', 'payments', query, id], async (cursor, signal) => {
		if (id) {
			const one = await unwrap(api.GET('/v1/wallet/topups/{id}', { params: { path: { id } }, signal }));
			return { data: [one], has_more: false, next_cursor: null };
		}
		return unwrap(api.GET('/v1/wallet/topups', { params: { query: { ...query, limit: 50, ...(cursor && { cursor }) } }, signal }));
	});
	return (
		<>
			{id ? (
				<p class="note">
					<code>{id}</code>{' '}
					<button type="button" class="small" onClick={() => change({ id: '' })}>
						{t('wallet.payments.all')}
					</button>
				</p>
			) : (
				<Filters states={states.map((state) => [state, t(`wallet.payment.${state}`)])} values={filters} change={change} />
			)}
			<Rows list={list} empty={t('wallet.payments.none')} hint={<p>{t('wallet.none.hint')}</p>}>
				{(rows) => <PaymentTable rows={rows} />}
			</Rows>
		</>
	);
}

function PaymentTable(props: { rows: readonly Schemas['Payment'][] }): JSX.Element {
	return (
		<Table
			compact
			caption={t('wallet.payments')}
			rows={props.rows}
			id={(row) => row.payment_id}
			columns={[
				{ name: t('transactions.when'), show: (row) => <Time at={row.created_at} /> },
				{ name: t('transactions.amount'), figure: true, phone: 'top', show: (row) => rupees(row.amount) },
				{ name: t('transactions.state'), phone: 'end', show: (row) => <PaymentBadge state={row.status} /> },
				{ name: t('wallet.method'), heading: true, show: (row) => t(`wallet.method.${row.method}`) },
				{ name: t('wallet.says'), phone: 'line', show: (row) => <span class="words">{row.message}</span> },
				{
					name: t('transactions.ref'),
					phone: 'line',
					show: (row) => (
						<>
							{row.ref_id && <span class="id">{row.ref_id}</span>} <code class="hint">{row.payment_id}</code>
						</>
					),
				},
			]}
		/>
	);
}
