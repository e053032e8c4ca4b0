import type { JSX } from 'preact';
import { Link } from 'wouter-preact';
import { api, type Schemas, unwrap } from '../api/client';
import { range } from '../dates';
import { number, rupees } from '../format';
import { t } from '../i18n';
import { hasScope } from '../session';
import { Time } from '../ui/Badge';
import { type ListState, Rows, useList } from '../ui/List';
import { Facts, Page } from '../ui/Page';
import { Table } from '../ui/Table';
import { useFilters } from '../ui/useFilters';
import { withTotals } from './keptTotals';
import { amountOf } from './recorded';
import { SaveList } from './SaveList';
import { RechargeBadge } from './StatusBadge';
import { joined, searchOf } from './search';
import { Filters, filterNames } from './TransactionFilters';
import { withRow } from './totals';
import './transactions.css';

const states = ['pending', 'success', 'failed', 'refunded'] as const;

const types = ['prepaid', 'dth'] as const;

type Row = Schemas['Recharge'];

// The first page has the totals of all pages.
type Totalled = { totals?: Schemas['RechargeTotals'] };

// A text that is no amount goes to the API, whose error names the field.
function amount(name: 'amount_min' | 'amount_max', text: string | undefined): Record<string, number> {
	return text ? { [name]: amountOf(text) ?? (text as unknown as number) } : {};
}

/** Recharges lists recharges. The address holds the filters. */
export function Recharges(): JSX.Element {
	const [filters, change] = useFilters([...filterNames, 'batch_id']);
	const status = states.find((state) => state === filters.status);
	const type = types.find((type) => type === filters.type);
	const text = filters.q ?? filters.ref_id;
	const query = {
		...(status && { status }),
		...(type && { type }),
		...amount('amount_min', filters.amount_min),
		...amount('amount_max', filters.amount_max),
		...(filters.batch_id && { batch_id: filters.batch_id }),
		...range(filters),
	};
	const load = async (
		limit: number,
		cursor: string | undefined,
		signal: AbortSignal,
		totals = false,
	): Promise<ListState<Row> & Totalled> => {
		const page = (more: { ref_id?: string; mobile?: string }) =>
			unwrap(
				api.GET('/v1/recharge', {
					params: { query: { ...query, ...more, limit, ...(cursor && { cursor }), ...(totals && { totals }) } },
					signal,
				}),
			);
		const search = text ? searchOf(text) : { ref: '' };
		if ('page' in search || !text) {
			return page(text ? { ref_id: text } : {});
		}
		if (search.mobile === undefined) {
			return page({ ref_id: search.ref });
		}
		// The digits can also be a reference, which at most one recharge has.
		const [named, numbered] = await Promise.all([cursor ? { data: [] } : page({ ref_id: search.ref }), page({ mobile: search.mobile })]);
		const other = named.data.filter((row) => row.mobile !== numbered.data[0]?.mobile);
		return {
			...numbered,
			data: joined(named.data, numbered.data, (row) => row.transaction_id),
			...(numbered.totals && { totals: other.reduce(withRow, numbered.totals) }),
		};
	};
	const list = useList(['recharges', 'list', query, text], (cursor, signal) =>
		cursor ? load(50, cursor, signal) : withTotals(['recharges', query, text], (totals) => load(50, cursor, signal, totals)),
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
			<Filters
				search={[t('recharge.search'), t('recharge.search.hint')]}
				states={states.map((state) => [state, t(`recharge.state.${state}`)])}
				types={types.map((type) => [type, t(`recharge.type.${type}`)])}
				values={filters}
				change={change}
			/>
			{filters.batch_id && (
				<p class="note">
					{t('transactions.filter.batch')} <Link href={`/batches/${encodeURIComponent(filters.batch_id)}`}>{filters.batch_id}</Link>{' '}
					<button type="button" class="small" onClick={() => change({ batch_id: '' })}>
						{t('action.reset')}
					</button>
				</p>
			)}
			<Rows list={list} empty={t('recharge.none')} hint={<p>{t('recharge.none.hint')}</p>}>
				{(rows) => (
					<>
						<div class="totals">
							<Totals of={(list.data?.pages[0] as Totalled | undefined)?.totals} />
						</div>
						<RechargeTable rows={rows} search={text} />
						<SaveList kind="recharge" file="recharges.csv" load={(cursor, signal) => load(1000, cursor, signal)} />
					</>
				)}
			</Rows>
		</Page>
	);
}

/** Totals shows the number and the amount of all recharges that match, and of each of their states. */
export function Totals(props: { of: Schemas['RechargeTotals'] | undefined }): JSX.Element | null {
	const all = props.of;
	if (!all) {
		return null;
	}
	const shown = ({ count, amount }: { count: number; amount: number }) =>
		t('recharge.total', { count: number(count), amount: rupees(amount) });
	return (
		<Facts
			of={[
				[t(all.complete ? 'recharge.total.all' : 'recharge.total.newest'), shown(all)],
				...states.map((state) => {
					const total = all.states.find(({ status }) => status === state);
					return [t(`recharge.state.${state}`), total && shown(total)] as const;
				}),
			]}
		/>
	);
}

/** RechargeTable shows recharges with links to their pages. A reference that is the text of the search is marked. */
export function RechargeTable(props: { rows: readonly Schemas['Recharge'][]; search?: string | undefined }): JSX.Element {
	const marked = (ref: string) => (ref === props.search ? <mark>{ref}</mark> : ref);
	return (
		<Table
			compact
			caption={t('shell.recharges')}
			rows={props.rows}
			id={(row) => row.transaction_id}
			columns={[
				{ name: t('recharge.number'), show: (row) => <Link href={`/recharges/${row.transaction_id}`}>{row.mobile}</Link> },
				{ name: t('transactions.amount'), figure: true, phone: 'top', show: (row) => rupees(row.amount) },
				{ name: t('transactions.state'), phone: 'end', show: (row) => <RechargeBadge state={row.status} /> },
				{ name: t('recharge.operator'), show: (row) => (row.circle ? `${row.operator}, ${row.circle}` : row.operator) },
				{ name: t('transactions.ref'), show: (row) => <span class="id">{marked(row.ref_id)}</span> },
				{ name: t('transactions.created'), phone: 'end', show: (row) => <Time at={row.created_at} /> },
			]}
		/>
	);
}
