import { useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { api, type Schemas, unwrap } from '../../api/client';
import { isConnected } from '../../api/liveStream';
import { number } from '../../format';
import { t } from '../../i18n';
import { SubjectLink } from '../../subject';
import { Badge, CopyableText, Time } from '../../ui/Badge';
import { Fetched } from '../../ui/FetchState';
import { Missing } from '../../ui/Missing';
import { Outcome } from '../../ui/Outcome';
import { Card, Facts, Page } from '../../ui/Page';
import { MatchBadge, matchOf, VerificationBadge, verificationTone } from '../StatusBadge';
import { Timeline } from '../timeline/Timeline';
import { resultReasons } from './resultReasons';
import '../transactions.css';

/** VerificationDetail is the page of a verification: its result with reasons, the bank's data and its timeline. */
export function VerificationDetail(props: Record<string, string>): JSX.Element {
	const id = props.id ?? '';
	const query = useQuery({
		queryKey: ['verifications', 'one', id],
		queryFn: ({ signal }) => unwrap(api.GET('/v1/bank/verify/{id}', { params: { path: { id }, query: { view: 'detail' } }, signal })),
		refetchInterval: ({ state }) => (state.data?.status === 'pending' ? (isConnected.peek() ? 10_000 : 3_000) : false),
	});
	return (
		<Page title={t('verify.one')}>
			<Fetched query={query} missing={<Missing to="/verifications" list={t('shell.verifications')} />}>
				{(of) => <Known of={of} detail={'steps' in of ? of : undefined} />}
			</Fetched>
		</Page>
	);
}

/** Badges shows the result, and whether banks have flagged the account, as rows of lists do. */
function Badges(props: { of: Schemas['Verification'] }): JSX.Element {
	return (
		<>
			<VerificationBadge of={props.of} /> {props.of.suspicious && <Badge tone="bad">{t('verify.suspicious')}</Badge>}
		</>
	);
}

/** Result shows the result first. A flag of banks is a warning of the same result, so it stands in the same box. */
export function Result(props: { of: Schemas['Verification'] }): JSX.Element {
	const { of } = props;
	const says = of.message ?? t(of.status === 'failed' ? 'verify.says.failed' : of.verified ? 'verify.says.yes' : 'verify.says.no');
	const flags = of.suspicious ? (of.suspicious_reasons ?? []).map((reason) => t(`verify.suspicious.${reason}`)) : [];
	const reasons = resultReasons(of);
	return (
		<Outcome
			tone={verificationTone(of)}
			badge={<Badges of={of} />}
			says={of.suspicious ? t('verify.suspicious.title', { reasons: flags.join(', ') || t('verify.suspicious.flagged_by_bank') }) : says}
		>
			{of.suspicious && (
				<p>
					{says} {t('verify.suspicious.what')}
				</p>
			)}
			{reasons.length > 0 && (
				<ul class="match-reasons">
					{reasons.map((reason) => (
						<li key={reason.says} class={reason.for ? 'good' : 'bad'}>
							<strong>{t(reason.for ? 'verify.for' : 'verify.against')}</strong> {t(reason.says, reason.values)}
						</li>
					))}
				</ul>
			)}
		</Outcome>
	);
}

function Known(props: { of: Schemas['Verification']; detail: Schemas['VerificationDetail'] | undefined }): JSX.Element {
	const { of, detail } = props;
	const match = matchOf(of);
	return (
		<>
			<Card class="record" title={of.vpa ?? of.account_number ?? of.verification_id}>
				<Result of={of} />
				<h3>{t('verify.reply')}</h3>
				<Facts
					of={[
						[t('verify.beneficiary'), of.beneficiary_name && <bdi class="foreign">{of.beneficiary_name}</bdi>],
						[
							t('verify.match'),
							match && (
								<>
									<MatchBadge of={match} /> {number(of.name_match_score ?? 0)} / 100
								</>
							),
						],
						[t('verify.status'), of.account_status && t(`verify.account.${of.account_status}`)],
						[t('verify.bank'), of.bank],
						[t('verify.branch'), of.branch],
						[t('verify.ifsc'), of.ifsc],
						[t('verify.utr'), of.utr && <CopyableText value={of.utr} />],
						[t('verify.at'), of.verified_at && <Time at={of.verified_at} exact />],
						[t('recharge.failed'), of.failed_at && <Time at={of.failed_at} exact />],
						[t('verify.next'), detail?.next_look_at && <Time at={detail.next_look_at} exact />],
					]}
				/>
				<h3>{t('verify.request')}</h3>
				<Facts
					of={[
						[t('transactions.ref'), of.ref_id && <span class="id">{of.ref_id}</span>],
						[t('verify.method'), t(`verify.method.${of.method}`)],
						[t('verify.name'), match && t('verify.name.kept')],
						[t('verify.cached'), of.cached && t('verify.cached.yes')],
						[t('transactions.created'), <Time key="created" at={of.created_at} exact />],
						[t('transactions.id'), <CopyableText key="id" value={of.verification_id} />],
						[t('transactions.error.code'), of.error && <code>{of.error.code}</code>],
						[t('recharge.provider'), detail?.provider],
						[t('recharge.provider_ref'), detail?.provider_ref && <CopyableText value={detail.provider_ref} />],
						[t('batch.one'), of.batch_id && <SubjectLink id={of.batch_id} />],
					]}
				/>
			</Card>
			<Timeline id={of.verification_id} of="verify" steps={detail?.steps} status={of.status} result={<Badges of={of} />} />
		</>
	);
}
