import { useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { api, type Schemas, unwrap } from '../../api/client';
import { number, rupees } from '../../format';
import { t } from '../../i18n';
import { Badge } from '../../ui/Badge';
import { Empty, Fetched } from '../../ui/FetchState';
import { Card } from '../../ui/Page';
import { Table } from '../../ui/Table';
import { ChoiceTabs } from '../../ui/Tabs';
import { useFilters } from '../../ui/useFilters';
import { MatchBadge, matchOf, RechargeBadge, VerificationBadge } from '../StatusBadge';
import type { Kind } from './kind';
import { type Counts, type Outcome, outcomeOf, outcomesOf, type Result } from './outcome';
import { mostSelected, type Selected, selected } from './stream';

type Page = { results: Result[]; has_more: boolean; next_cursor: string | null };

/**
 * page is the number of results on a page. A new page replaces the old one, so that ten thousand results need no
 * more memory.
 */
const page = 100;

/** Results shows the results of a batch page by page, or those with one outcome. counts are undefined until it has ended. */
export function Results(props: {
	kind: Kind;
	id: string;
	state: Schemas['Batch']['state'];
	total: number;
	counts: Counts | undefined;
	finished: string | null;
}): JSX.Element {
	const { kind, total, counts } = props;
	const [filters, change] = useFilters(['show']);
	const show = outcomesOf[kind].find(([outcome]) => outcome === filters.show)?.[0];
	const counted = (text: string, count: number | undefined) => (count === undefined ? text : `${text} (${number(count)})`);
	return (
		<Card title={t('batch.results')}>
			<ChoiceTabs
				label={t('batch.results.show')}
				value={show ?? 'all'}
				options={[
					['all', counted(t('batch.results.all'), total)],
					...outcomesOf[kind].map(([outcome, name]) => [outcome, counted(t(name), counts?.[outcome])] as const),
				]}
				change={(chosen) => change({ show: chosen === 'all' ? '' : chosen })}
			/>
			{show ? <OfOutcome {...props} outcome={show} /> : <All kind={kind} id={props.id} state={props.state} />}
		</Card>
	);
}

function All(props: { kind: Kind; id: string; state: Schemas['Batch']['state'] }): JSX.Element {
	const { kind, id, state } = props;
	const [cursors, setCursors] = useState<readonly string[]>([]);
	const cursor = cursors.at(-1);
	const query = useQuery<Page>({
		queryKey: ['batches', 'results', id, cursor, state], // rows of a batch that still ran are not shown below its end
		queryFn: ({ signal }): Promise<Page> => {
			const init = { params: { path: { id }, query: { limit: page, ...(cursor && { cursor }) } }, signal };
			return (kind === 'recharge'
				? unwrap(api.GET('/v1/recharge/batch/{id}/results', init))
				: unwrap(api.GET('/v1/verification/batch/{id}/results', init))) as Promise<unknown> as Promise<Page>;
		},
	});
	const next = query.data?.next_cursor;
	return (
		<>
			<Fetched query={query}>{(data) => <ResultTable rows={data.results} kind={kind} />}</Fetched>
			{(cursors.length > 0 || next) && (
				<div class="actions">
					<button type="button" disabled={cursors.length === 0} onClick={() => setCursors(cursors.slice(0, -1))}>
						{t('transactions.page.before')}
					</button>
					<span role="status">{t('transactions.page.at', { page: number(cursors.length + 1) })}</span>
					<button type="button" disabled={!next} onClick={() => next && setCursors([...cursors, next])}>
						{t('transactions.page.after')}
					</button>
				</div>
			)}
		</>
	);
}

function OfOutcome(props: { kind: Kind; id: string; finished: string | null; outcome: Outcome }): JSX.Element {
	const { kind, id, finished, outcome } = props;
	// This query reads all results, so its key is one that notices do not invalidate.
	const query = useQuery<Selected<Result>>({
		queryKey: ['outcomes', id, outcome, finished],
		staleTime: 60_000,
		refetchOnWindowFocus: false,
		queryFn: ({ signal }) => selected<Result>(kind, id, (result) => outcomeOf(result) === outcome, signal),
	});
	return (
		<Fetched query={query}>
			{(found) => (
				<>
					{found.count === 0 ? (
						<Empty title={t('batch.results.none')} />
					) : (
						<>
							{found.count > mostSelected && <p class="hint">{t('batch.results.most', { count: number(mostSelected) })}</p>}
							<ResultTable rows={found.rows} kind={kind} />
						</>
					)}
					{!finished && (
						<button type="button" disabled={query.isFetching} onClick={() => void query.refetch()}>
							{t('batch.results.again')}
						</button>
					)}
				</>
			)}
		</Fetched>
	);
}

function ResultTable(props: { rows: readonly Result[]; kind: Kind }): JSX.Element {
	const recharge = props.kind === 'recharge';
	return (
		<Table
			compact
			caption={t('batch.results')}
			rows={props.rows}
			id={(row) => String(row.index)}
			columns={[
				{ name: t('batch.row'), figure: true, phone: 'labelled end', show: (row) => number(row.index + 1) },
				{ name: t(recharge ? 'recharge.number' : 'verify.account'), heading: true, show: (row) => <Subject of={row} /> },
				{ name: t('transactions.state'), phone: 'top', show: (row) => <State of={row} /> },
				recharge
					? { name: t('transactions.amount'), figure: true, show: (row) => ('amount' in row ? rupees(row.amount) : '–') }
					: {
							name: t('verify.beneficiary'),
							show: (row) => ('beneficiary_name' in row && row.beneficiary_name ? <Beneficiary of={row} /> : '–'),
						},
				{
					name: t('transactions.ref'),
					phone: 'line',
					show: (row) => ('ref_id' in row && row.ref_id ? <span class="id">{row.ref_id}</span> : '–'),
				},
				...(props.rows.some(errorOf) ? [{ name: t('batch.says'), phone: 'line' as const, show: message }] : []),
			]}
		/>
	);
}

function Subject(props: { of: Result }): JSX.Element {
	const { of } = props;
	if ('transaction_id' in of) {
		return <Link href={`/recharges/${of.transaction_id}`}>{of.mobile}</Link>;
	}
	if ('verification_id' in of) {
		return <Link href={`/verifications/${of.verification_id}`}>{of.vpa ?? of.account_number}</Link>;
	}
	return <span>–</span>;
}

function State(props: { of: Result }): JSX.Element {
	const { of } = props;
	if ('transaction_id' in of) {
		return <RechargeBadge state={of.status} />;
	}
	if ('verification_id' in of) {
		return (
			<>
				<VerificationBadge of={of} /> {of.suspicious && <Badge tone="bad">{t('verify.suspicious')}</Badge>}
			</>
		);
	}
	return of.status === 'error' ? <Badge tone="bad">{t('batch.refused')}</Badge> : <Badge tone="quiet">{t('batch.state.queued')}</Badge>;
}

/** Beneficiary shows the name at the bank, and how well it matches. */
function Beneficiary(props: { of: Schemas['BatchVerification'] }): JSX.Element {
	const { beneficiary_name } = props.of;
	const match = matchOf(props.of);
	return (
		<>
			<bdi class="foreign">{beneficiary_name}</bdi> {match && <MatchBadge of={match} />}
		</>
	);
}

/** errorOf returns the error of a result; undefined if it has none. */
function errorOf(of: Result) {
	return 'error' in of ? of.error : undefined;
}

/** message shows the error of a result. */
function message(of: Result): JSX.Element | string {
	const error = errorOf(of);
	return error ? (
		<span class="words">
			<code>{error.code}</code> {error.message}
		</span>
	) : (
		'–'
	);
}
