import { keepPreviousData, useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { api, type Schemas, unwrap } from '../../api/client';
import { isConnected, onNotice } from '../../api/liveStream';
import { queries } from '../../api/queries';
import { t } from '../../i18n';
import { CopyableText, Time } from '../../ui/Badge';
import { Fetched } from '../../ui/FetchState';
import { Missing } from '../../ui/Missing';
import { Outcome } from '../../ui/Outcome';
import { Card, Facts, Page } from '../../ui/Page';
import { Totals } from '../RechargeList';
import { BatchBadge } from '../StatusBadge';
import { Progress } from './BatchProgress';
import { Results } from './BatchResults';
import { Downloads } from './Downloads';
import { type Kind, kindOf } from './kind';
import { countsOf, headline } from './outcome';
import '../record.css';
import '../transactions.css';

type Any = Schemas['BatchShown'] | Schemas['VerificationBatchShown'];

/** BatchDetail shows how a batch ended, or its progress, which updates itself, and the results of its records. */
export function BatchDetail(props: Record<string, string>): JSX.Element {
	const id = props.id ?? '';
	const kind = kindOf(id);
	const query = useQuery<Any>({
		queryKey: ['batches', 'one', id],
		queryFn: ({ signal }): Promise<Any> =>
			kind === 'recharge'
				? unwrap(api.GET('/v1/recharge/batch/{id}', { params: { path: { id } }, signal }))
				: unwrap(api.GET('/v1/verification/batch/{id}', { params: { path: { id } }, signal })),
		refetchInterval: ({ state }) =>
			state.data && (state.data.state === 'queued' || state.data.state === 'processing') ? (isConnected.peek() ? 15_000 : 3_000) : false,
	});
	useEffect(
		() =>
			onNotice(({ kind, data }) => {
				if (kind !== 'batch' || data.batch_id !== id) {
					return;
				}
				const { state, successful, failed } = data as Pick<Schemas['Batch'], 'state' | 'successful' | 'failed'>;
				if (state !== 'queued' && state !== 'processing') {
					void queries.invalidateQueries({ queryKey: ['batches', 'one', id] }); // the record has the end of the batch, too
					return;
				}
				queries.setQueryData<Any>(['batches', 'one', id], (old) => old && { ...old, state, successful, failed, done: successful + failed });
			}),
		[id],
	);
	return (
		<Page title={t(kind === 'recharge' ? 'batch.one.recharge' : 'batch.one.verification')}>
			<Fetched query={query} missing={<Missing to={`/batches?kind=${kind}`} list={t('shell.batches')} />}>
				{(batch) => <Known batch={batch} kind={kind} />}
			</Fetched>
		</Page>
	);
}

/** useExisting fetches how many accounts of a finished batch exist; undefined until then, or if results were purged. */
function useExisting(batch: Any, kind: Kind): number | undefined {
	const { batch_id, successful } = batch;
	const { data } = useQuery({
		queryKey: ['batches', 'existing', batch_id],
		enabled: kind === 'verification' && batch.state === 'completed',
		queryFn: ({ signal }) => unwrap(api.GET('/v1/bank/verify', { params: { query: { batch_id, totals: true, limit: 1 } }, signal })),
	});
	// Purged results are not among the totals.
	if (!data?.totals?.complete || data.totals.count < successful) {
		return undefined;
	}
	return data.totals.states.find(({ status }) => status === 'success')?.count ?? 0;
}

/** Sums shows the amounts of a batch of recharges, in all and in each state. */
function Sums(props: { id: string; done: number }): JSX.Element {
	const { id: batch_id, done } = props;
	const { data } = useQuery({
		queryKey: ['recharges', 'batch', batch_id, done],
		placeholderData: keepPreviousData,
		queryFn: ({ signal }) => unwrap(api.GET('/v1/recharge', { params: { query: { batch_id, totals: true, limit: 1 } }, signal })),
	});
	return (
		<div class="totals">
			<Totals of={data?.totals} />
		</div>
	);
}

function Known(props: { batch: Any; kind: Kind }): JSX.Element {
	const { batch, kind } = props;
	const expires = 'expires_at' in batch ? batch.expires_at : null;
	const open = batch.state === 'queued' || batch.state === 'processing';
	const counts = countsOf(kind, batch, useExisting(batch, kind));
	const ended = batch.state === 'completed' ? headline(kind, counts) : undefined;
	return (
		<>
			<Card class="record" title={batch.ref_id ?? batch.batch_id}>
				<Outcome
					tone={open ? 'busy' : batch.state === 'expired' ? 'quiet' : batch.failed > 0 ? 'warn' : 'good'}
					badge={<BatchBadge state={batch.state} />}
					says={ended ?? t(`batch.says.${batch.state}`)}
				>
					{!ended && <Progress batch={batch} kind={kind} />}
				</Outcome>
				{kind === 'recharge' && batch.done > 0 && <Sums id={batch.batch_id} done={batch.done} />}
				<Facts
					of={[
						[t('transactions.id'), <CopyableText key="id" value={batch.batch_id} />],
						[t('transactions.ref'), batch.ref_id && <span class="id">{batch.ref_id}</span>],
						[t('transactions.created'), <Time key="created" at={batch.created_at} exact />],
						[t('batch.finished'), batch.finished_at && <Time at={batch.finished_at} exact />],
						[t('batch.expires'), expires && <Time at={expires} exact />],
						[t('batch.records'), kind === 'recharge' && <Link href={`/recharges?batch_id=${batch.batch_id}`}>{t('batch.aslist')}</Link>],
					]}
				/>
				{batch.state !== 'expired' && <Downloads kind={kind} id={batch.batch_id} />}
			</Card>
			{batch.state === 'expired' ? (
				<p class="note">{t('batch.expired')}</p>
			) : (
				<Results
					kind={kind}
					id={batch.batch_id}
					state={batch.state}
					total={batch.total}
					counts={open ? undefined : counts}
					finished={batch.finished_at}
				/>
			)}
		</>
	);
}
