import { useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { api, type Schemas, unwrap } from '../../api/client';
import { isConnected } from '../../api/liveStream';
import { rupees } from '../../format';
import { t } from '../../i18n';
import { hasScope } from '../../session';
import { SubjectLink } from '../../subject';
import { CopyableText, Time } from '../../ui/Badge';
import { Fetched } from '../../ui/FetchState';
import { Missing } from '../../ui/Missing';
import { Outcome } from '../../ui/Outcome';
import { Card, Facts, Page } from '../../ui/Page';
import { RechargeBadge, rechargeTone } from '../StatusBadge';
import { Timeline } from '../timeline/Timeline';
import { Refund } from './Refund';
import '../transactions.css';

/** RechargeDetail is the page of a recharge: its status, its amounts and its timeline. */
export function RechargeDetail(props: Record<string, string>): JSX.Element {
	const id = props.id ?? '';
	const query = useQuery({
		queryKey: ['recharges', 'one', id],
		queryFn: ({ signal }) => unwrap(api.GET('/v1/recharge/{id}', { params: { path: { id }, query: { view: 'detail' } }, signal })),
		// The SSE stream reports events. Steps without an event, and the time without a stream, need polling.
		refetchInterval: ({ state }) => (state.data?.status === 'pending' ? (isConnected.peek() ? 10_000 : 3_000) : false),
	});
	return (
		<Page title={t('recharge.one')}>
			<Fetched query={query} missing={<Missing to="/recharges" list={t('shell.recharges')} />}>
				{(recharge) => <Known recharge={recharge} detail={'steps' in recharge ? recharge : undefined} />}
			</Fetched>
		</Page>
	);
}

/** says describes the state of a recharge. The heading has its amount and its number, and a failure has a cause. */
function says(recharge: Schemas['Recharge']): string {
	const { status } = recharge;
	return status === 'failed'
		? recharge.message
		: t(status === 'success' && recharge.refund_id !== undefined ? 'recharge.says.refunding' : `recharge.says.${status}`);
}

function Known(props: { recharge: Schemas['Recharge']; detail: Schemas['RechargeDetail'] | undefined }): JSX.Element {
	const { recharge, detail } = props;
	const [asking, setAsking] = useState(false);
	const underWay = recharge.status === 'success' && recharge.refund_id !== undefined;
	return (
		<>
			<Card
				class="record"
				title={`${rupees(recharge.amount)} · ${recharge.mobile}`}
				actions={
					recharge.status === 'success' &&
					!underWay &&
					hasScope('recharge:write') && (
						<button type="button" onClick={() => setAsking(true)}>
							{t('recharge.refund')}
						</button>
					)
				}
			>
				<Outcome tone={rechargeTone(recharge.status)} badge={<RechargeBadge state={recharge.status} />} says={says(recharge)}>
					{detail?.alarm && <p class="wrong">{t(`recharge.alarm.${detail.alarm}`)}</p>}
					{recharge.error?.code === 'insufficient_balance' && (
						<p>
							<Link href="/wallet" class="button">
								{t('recharge.towallet')}
							</Link>
						</p>
					)}
					{recharge.reason && (
						<p>
							{t('recharge.reason')}: <bdi class="foreign">{recharge.reason}</bdi>
						</p>
					)}
				</Outcome>
				<Facts
					of={[
						[
							t('transactions.ref'),
							<span key="ref" class="id">
								{recharge.ref_id}
							</span>,
						],
						[t('recharge.type'), t(`recharge.type.${recharge.type}`)],
						[t('recharge.operator'), recharge.circle ? `${recharge.operator}, ${recharge.circle}` : recharge.operator],
						[t('transactions.created'), <Time key="created" at={recharge.created_at} exact />],
						[t('recharge.completed'), recharge.completed_at && <Time at={recharge.completed_at} exact />],
						[t('recharge.failed'), recharge.failed_at && <Time at={recharge.failed_at} exact />],
						[t('recharge.refunded'), recharge.refunded_at && <Time at={recharge.refunded_at} exact />],
						[t('recharge.next'), detail?.next_look_at && <Time at={detail.next_look_at} exact />],
					]}
				/>
				<h3>{t('transactions.details')}</h3>
				<Facts
					of={[
						[t('transactions.id'), <CopyableText key="id" value={recharge.transaction_id} />],
						[t('recharge.detection'), recharge.detection && t(`recharge.detection.${recharge.detection.source}`)],
						[t('recharge.refund_id'), recharge.refund_id && <code>{recharge.refund_id}</code>],
						[t('transactions.error.code'), recharge.error && <code>{recharge.error.code}</code>],
						[t('recharge.provider'), detail?.provider],
						[t('recharge.provider_ref'), detail?.provider_ref && <CopyableText value={detail.provider_ref} />],
						[t('batch.one'), recharge.batch_id && <SubjectLink id={recharge.batch_id} />],
					]}
				/>
			</Card>
			<Timeline id={recharge.transaction_id} of="recharge" steps={detail?.steps} status={recharge.refund_id ?? recharge.status} />
			{asking && <Refund recharge={recharge} close={() => setAsking(false)} />}
		</>
	);
}
