import type { JSX } from 'preact';
import { Link } from 'wouter-preact';
import { api, type Schemas, unwrap } from '../api/client';
import { range } from '../dates';
import { number } from '../format';
import { t } from '../i18n';
import { hasScope } from '../session';
import { Badge, Time } from '../ui/Badge';
import { type ListState, Rows, useList } from '../ui/List';
import { Facts, Page } from '../ui/Page';
import { Table } from '../ui/Table';
import { useFilters } from '../ui/useFilters';
import { withTotals } from './keptTotals';
import { SaveList } from './SaveList';
import { MatchBadge, matchOf, VerificationBadge } from './StatusBadge';
import { Filters, filterNames } from './TransactionFilters';
import './transactions.css';

const states = ['pending', 'success', 'failed'] as const;

const methods = ['penny_drop', 'upi'] as const;

// The first page has the totals of all pages.
type Totalled = { totals?: Schemas['VerificationTotals'] };

/** Verifications lists verifications. The address holds the filters. */
export function Verifications(): JSX.Element {
	const [filters, change] = useFilters([...filterNames, 'method']);
	const status = states.find((state) => state === filters.status);
	const method = methods.find((method) => method === filters.method);
	const ref_id = filters.q ?? filters.ref_id;
	const query = { ...(status && { status }), ...(method && { method }), ...(ref_id && { ref_id }), ...range(filters) };
	const load = (
		limit: number,
		cursor: string | undefined,
		signal: AbortSignal,
		totals = false,
	): Promise<ListState<Schemas['Verification']> & Totalled> =>
		unwrap(
			api.GET('/v1/bank/verify', { params: { query: { ...query, limit, ...(cursor && { cursor }), ...(totals && { totals }) } }, signal }),
		);
	const list = useList(['verifications', 'list', query], (cursor, signal) =>
		cursor ? load(50, cursor, signal) : withTotals(['verifications', query], (totals) => load(50, cursor, signal, totals)),
	);
	return (
		<Page
			title={t('shell.verifications')}
			actions={
				hasScope('verify:write') && (
					<Link href="/verifications/new" class="primary">
						{t('verify.new')}
					</Link>
				)
			}
		>
			<Filters
				search={[t('verify.search'), t('verify.search.hint')]}
				states={states.map((state) => [state, t(`verify.filter.${state}`)])}
				methods={methods.map((method) => [method, t(`verify.method.${method}`)])}
				values={filters}
				change={change}
			/>
			<Rows list={list} empty={t('verify.none')} hint={<p>{t('verify.none.hint')}</p>}>
				{(rows) => (
					<>
						<div class="totals">
							<VerificationTotals of={(list.data?.pages[0] as Totalled | undefined)?.totals} />
						</div>
						<VerificationTable rows={rows} />
						<SaveList kind="verification" file="verifications.csv" load={(cursor, signal) => load(1000, cursor, signal)} />
					</>
				)}
			</Rows>
		</Page>
	);
}

/** VerificationTotals shows the number of all verifications that match, and of each of their states. */
export function VerificationTotals(props: { of: Schemas['VerificationTotals'] | undefined }): JSX.Element | null {
	const all = props.of;
	if (!all) {
		return null;
	}
	return (
		<Facts
			of={[
				[t(all.complete ? 'recharge.total.all' : 'recharge.total.newest'), number(all.count)],
				...states.map((state) => {
					const total = all.states.find(({ status }) => status === state);
					return [t(`verify.filter.${state}`), total && number(total.count)] as const;
				}),
			]}
		/>
	);
}

/** matched shows how well the names match. */
function matched(row: Schemas['Verification']): JSX.Element | string {
	const match = matchOf(row);
	return match ? <MatchBadge of={match} /> : '–';
}

/**
 * VerificationTable shows verifications with links to their pages. Names come from banks, so they are rendered as
 * text only.
 */
export function VerificationTable(props: { rows: readonly Schemas['Verification'][] }): JSX.Element {
	return (
		<div class="verifications">
			<Table
				compact
				caption={t('shell.verifications')}
				rows={props.rows}
				id={(row) => row.verification_id}
				columns={[
					{
						name: t('verify.account'),
						show: (row) => <Link href={`/verifications/${row.verification_id}`}>{row.vpa ?? row.account_number}</Link>,
					},
					{
						name: t('verify.result'),
						phone: 'top',
						show: (row) => (
							<>
								<VerificationBadge of={row} /> {row.suspicious && <Badge tone="bad">{t('verify.suspicious')}</Badge>}
							</>
						),
					},
					{
						name: t('verify.beneficiary'),
						show: ({ beneficiary_name, bank, ifsc }) =>
							beneficiary_name || bank || ifsc ? (
								<>
									{beneficiary_name && <bdi class="foreign">{beneficiary_name}</bdi>} <span class="hint">{bank || ifsc}</span>
								</>
							) : (
								'–'
							),
					},
					{ name: t('verify.match'), phone: 'end', show: matched },
					{ name: t('transactions.ref'), show: (row) => (row.ref_id ? <span class="id">{row.ref_id}</span> : '–') },
					{ name: t('transactions.created'), phone: 'end', show: (row) => <Time at={row.created_at} /> },
				]}
			/>
		</div>
	);
}
