import { keepPreviousData, useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { api, type Schemas, unwrap } from '../../api/client';
import { isConnected, onNotice } from '../../api/liveStream';
import { queries } from '../../api/queries';
import { number } from '../../format';
import { t } from '../../i18n';
import { CopyableText, Time } from '../../ui/Badge';
import { Fetched } from '../../ui/FetchState';
import { Missing } from '../../ui/Missing';
import { Card, Facts, Page } from '../../ui/Page';
import { Totals } from '../RechargeList';
import { BatchBadge } from '../StatusBadge';
import { Progress } from './BatchProgress';
import { Results } from './BatchResults';
import { Downloads } from './Downloads';
import { type Kind, kindOf } from './kind';
import '../record.css';
import '../transactions.css';

type Any = Schemas['BatchShown'] | Schemas['VerificationBatchShown'];

/** BatchDetail shows the progress of a batch, which updates itself, and the results of its records. */
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

/** Existing shows how many accounts of a finished batch exist. All other accounts that have an answer do not exist. */
export function Existing(props: { id: string; answered: number }): JSX.Element | null {
	const { id: batch_id, answered } = props;
	const { data } = useQuery({
		queryKey: ['batches', 'existing', batch_id],
		queryFn: ({ signal }) => unwrap(api.GET('/v1/bank/verify', { params: { query: { batch_id, totals: true, limit: 1 } }, signal })),
	});
	// Purged results are not among the totals.
	if (!data?.totals?.complete || data.totals.count < answered) {
		return null;
	}
	const existing = data.totals.states.find(({ status }) => status === 'success')?.count ?? 0;
	return <p>{t('batch.existing', { existing: number(existing), missing: number(answered - existing) })}</p>;
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
	return (
		<>
			<Card class="record" title={batch.ref_id ?? batch.batch_id}>
				<div class={`result ${open ? 'busy' : batch.state === 'expired' ? 'quiet' : batch.failed > 0 ? 'warn' : 'good'}`}>
					<p class="says">
						<BatchBadge state={batch.state} /> <span>{t(`batch.says.${batch.state}`)}</span>
					</p>
					<Progress batch={batch} kind={kind} />
					{kind === 'verification' && batch.state === 'completed' && <Existing id={batch.batch_id} answered={batch.successful} />}
				</div>
				{kind === 'recharge' && batch.done > 0 && <Sums id={batch.batch_id} done={batch.done} />}
				<p class="unseen" role="status">
					{open ? '' : t(`batch.says.${batch.state}`)}
				</p>
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
				<Results kind={kind} id={batch.batch_id} finished={batch.finished_at} />
			)}
		</>
	);
}
