import { useQuery } from '@tanstack/preact-query';
import type { ComponentChildren, JSX } from 'preact';
import { Link } from 'wouter-preact';
import { api, type Schemas, unwrap } from '../../api/client';
import { rupees } from '../../format';
import { t } from '../../i18n';
import { hasScope } from '../../session';
import { Badge, Time, type Tone } from '../../ui/Badge';
import { errorMessage, Failed } from '../../ui/FetchState';
import { Card } from '../../ui/Page';
import { attemptError } from '../../webhooks/attemptError';
import { DeliveryBadge } from '../../webhooks/DeliveryBadge';
import { type Entry, mergeTimeline } from './mergeTimeline';
import '../record.css';

type RechargeStep = Schemas['RechargeStep'];
type VerificationStep = Schemas['VerificationStep'];

/** most is the maximum number of postings, events and audit rows of one record that are shown. */
const most = 200;

/**
 * Timeline shows the history of one record: steps, postings of the wallet, events with their deliveries, and
 * audit rows. It names the scopes that the key lacks for some of them. A change of status refetches everything.
 */
export function Timeline(props: {
	id: string;
	of: 'recharge' | 'verify';
	steps: readonly (RechargeStep | VerificationStep)[] | undefined;
	status: string;
	/** result is the badge of the final state; without one, the step has its own text. */
	result?: JSX.Element;
}): JSX.Element {
	const { id, of, status } = props;
	const postings = useQuery({
		queryKey: ['wallet', 'entries', id, status],
		enabled: of === 'recharge' && hasScope('recharge:read'),
		queryFn: ({ signal }) => unwrap(api.GET('/v1/wallet/entries', { params: { query: { subject: id, limit: most } }, signal })),
	});
	const events = useQuery({
		queryKey: ['events', 'of', id, status],
		enabled: hasScope('webhooks:manage'),
		queryFn: ({ signal }) => unwrap(api.GET('/v1/events', { params: { query: { subject: id, limit: most } }, signal })),
	});
	const audit = useQuery({
		queryKey: ['audit', 'of', id, status],
		enabled: hasScope('account:read'),
		queryFn: async ({ signal }) => {
			const page = await unwrap(api.GET('/v1/audit', { params: { query: { subject: id, limit: most } }, signal }));
			return typeof page === 'string' ? [] : 'data' in page ? page.data : [];
		},
	});
	const entries = mergeTimeline({
		steps: props.steps,
		postings: postings.data?.data,
		events: events.data?.data,
		audit: audit.data,
	});
	const missing = [!hasScope('webhooks:manage') && 'webhooks:manage', !hasScope('account:read') && 'account:read'].filter(
		(scope) => scope !== false,
	);
	const refused = [postings, events, audit].find((query) => query.error && !query.data);
	return (
		<Card title={t('timeline.title')}>
			<ol class="timeline">
				{entries.map((entry) => (
					<TimelineEntry key={keyOf(entry)} entry={entry} of={of} result={props.result} />
				))}
			</ol>
			{refused && <Failed error={refused.error} again={() => void refused.refetch()} />}
			{missing.length > 0 && <p class="hint">{t('timeline.missing', { scope: missing.join(', ') })}</p>}
		</Card>
	);
}

function keyOf(entry: Entry): string {
	switch (entry.kind) {
		case 'step':
			return `${entry.at} ${entry.step.act} ${entry.step.answer}`;
		case 'posting':
			return `${entry.at} ${entry.posting.kind}`;
		case 'event':
			return entry.event.id;
		case 'audit':
			return `${entry.row.seq}`;
	}
}

function TimelineEntry(props: { entry: Entry; of: 'recharge' | 'verify'; result: JSX.Element | undefined }): JSX.Element {
	const { entry } = props;
	switch (entry.kind) {
		case 'step':
			return <StepTold step={entry.step as RechargeStep | VerificationStep} of={props.of} result={props.result} />;
		case 'posting':
			return (
				<Line at={entry.at} kind={t('timeline.kind.wallet')} class="posting">
					<p class="did">
						<strong>{t(`wallet.kind.${entry.posting.kind}`)}</strong> <Change of={entry.posting} />
					</p>
				</Line>
			);
		case 'event':
			return (
				<Line at={entry.at} kind={t('timeline.kind.event')} class="minor">
					<p class="did">
						{t('timeline.event')} <code>{entry.event.type}</code> <code class="hint">{entry.event.id}</code>
					</p>
					<Deliveries event={entry.event.id} />
				</Line>
			);
		case 'audit':
			return (
				<Line at={entry.at} kind={t('timeline.kind.audit')} class="minor">
					<p class="did">
						<code>{entry.row.action}</code> {t('timeline.by', { actor: entry.row.actor })}
						{entry.row.client && <> · {t('timeline.from', { client: entry.row.client })}</>}{' '}
						<span class="hint">· {t('timeline.row', { seq: entry.row.seq })}</span>
					</p>
				</Line>
			);
	}
}

/** Change shows the effect of a posting on the available and the held balance. */
function Change(props: { of: Pick<Schemas['WalletEntry'], 'available' | 'held'> }): JSX.Element {
	return (
		<span class="change">
			{(['available', 'held'] as const)
				.filter((name) => props.of[name] !== 0)
				.map((name) => (
					<span key={name}>
						{t(`wallet.${name}`)} {signed(props.of[name])}
					</span>
				))}
		</span>
	);
}

/** signed formats an amount with its sign, also a plus sign. */
export function signed(amount: number): string {
	return amount > 0 ? `+${rupees(amount)}` : rupees(amount).replace('-', '−');
}

const tones: Record<string, Tone> = {
	pending: 'busy',
	succeeded: 'good',
	success: 'good',
	found: 'good',
	failed: 'bad',
	not_found: 'bad',
	refunded: 'warn',
	reversed: 'warn',
	late_success: 'bad',
	late_failure: 'bad',
};

/** answerOf returns the text of an answer. That a request was recorded needs none. */
function answerOf(step: RechargeStep | VerificationStep, of: 'recharge' | 'verify'): string | undefined {
	if (step.answer === 'recorded') {
		return undefined;
	}
	return of === 'recharge'
		? t(`recharge.answer.${step.answer as Exclude<RechargeStep['answer'], 'recorded'>}`)
		: t(`verify.answer.${step.answer as Exclude<VerificationStep['answer'], 'recorded'>}`);
}

function StepTold(props: {
	step: RechargeStep | VerificationStep;
	of: 'recharge' | 'verify';
	result: JSX.Element | undefined;
}): JSX.Element {
	const { step, of } = props;
	const tone = tones[step.answer];
	const act = of === 'recharge' ? t(`recharge.act.${(step as RechargeStep).act}`) : t(`verify.act.${(step as VerificationStep).act}`);
	const answer = answerOf(step, of);
	const result = step.act === 'settled' && props.result;
	return (
		<Line at={step.at} kind={t('timeline.kind.step')} class={tone ?? 'quiet'}>
			<p class="did">
				<strong>{act}</strong> {result || (answer && (tone ? <Badge tone={tone}>{answer}</Badge> : <span class="cause">· {answer}</span>))}
				{step.times > 1 && (
					<span class="hint">
						{' '}
						{t('timeline.times', { times: step.times })} <Time at={step.until} exact />
					</span>
				)}
			</p>
		</Line>
	);
}

/** Line is an entry: what happened, when, and of which kind it is. class is a tone, or how much the entry weighs. */
function Line(props: { at: string; kind: string; class: string; children: ComponentChildren }): JSX.Element {
	return (
		<li class={props.class}>
			<div class="what">{props.children}</div>
			<p class="when">
				<span>{props.kind}</span> <Time at={props.at} exact />
			</p>
		</li>
	);
}

function Deliveries(props: { event: string }): JSX.Element {
	const query = useQuery({
		queryKey: ['deliveries', 'of', props.event],
		queryFn: ({ signal }) => unwrap(api.GET('/v1/deliveries', { params: { query: { event_id: props.event, limit: 50 } }, signal })),
	});
	if (!query.data) {
		return <span class="hint no-event">{query.error ? errorMessage(query.error) : t('state.loading')}</span>;
	}
	if (query.data.data.length === 0) {
		return <span class="hint no-event">{t('timeline.none')}</span>;
	}
	return (
		<ul class="deliveries">
			{query.data.data.map((delivery) => (
				<li key={delivery.id}>
					<DeliveryBadge of={delivery} /> <Link href={`/deliveries/${delivery.id}`}>{t('timeline.delivery')}</Link>{' '}
					<code class="hint">{delivery.id}</code>{' '}
					<span class="hint">
						{t('timeline.attempts', { count: delivery.attempts_made })}
						{delivery.last_attempt?.http_status ? ` · HTTP ${delivery.last_attempt.http_status}` : ''}
						{delivery.last_attempt?.error ? ` · ${attemptError(delivery.last_attempt)}` : ''}
					</span>
				</li>
			))}
		</ul>
	);
}
