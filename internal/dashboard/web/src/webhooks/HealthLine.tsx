import { useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { api, type Schemas, unwrap } from '../api/client';
import { liveQuery } from '../api/liveStream';
import { hour, number } from '../format';
import { t } from '../i18n';
import { Time } from '../ui/Badge';
import { Fetched } from '../ui/FetchState';
import { Outcome } from '../ui/Outcome';
import { attemptError } from './attemptError';
import { Due, HealthBadge, milliseconds } from './DeliveryBadge';
import { LastAnswer } from './DeliveryOutcome';
import { useDeliveryNotices } from './useDeliveries';

type Health = Schemas['WebhookHealth'];

/**
 * every is the minimum time between two fetches in milliseconds, because the API reads up to 8,000 attempts for
 * one health.
 */
const every = 5000;

/** HealthLine shows the health of a webhook. It is fetched when it becomes visible. With lead, a failure stands in a box, first. */
export function HealthLine(props: { id: string; lead?: boolean }): JSX.Element {
	const place = useRef<HTMLDivElement>(null);
	const [seen, setSeen] = useState(false);
	useEffect(() => {
		const watcher = new IntersectionObserver((entries) => setSeen(entries.some((entry) => entry.isIntersecting)));
		if (place.current) {
			watcher.observe(place.current);
		}
		return () => watcher.disconnect();
	}, []);
	const query = useQuery({
		queryKey: ['health', props.id],
		...liveQuery,
		enabled: seen,
		queryFn: ({ signal }) => unwrap(api.GET('/v1/webhooks/{id}/health', { params: { path: { id: props.id } }, signal })),
	});
	useDeliveryNotices(
		(one) => seen && one.webhook === props.id,
		every,
		() => void query.refetch(),
	);
	return (
		<div class="wh-health" ref={place}>
			<Fetched query={query}>{(health) => <Shown health={health} lead={props.lead ?? false} />}</Fetched>
		</div>
	);
}

function Shown(props: { health: Health; lead: boolean }): JSX.Element {
	const { health } = props;
	const { attempts, last_failure: failure } = health;
	const boxed = props.lead && failure && (health.health === 'failing' || health.health === 'degraded');
	return (
		<>
			{boxed && <Failing of={health} failure={failure} />}
			<p class="wh-line">
				{!boxed && <HealthBadge health={health.health} />}
				<span>{share(attempts)}</span>
				{attempts.successes > 0 && attempts.median_ms !== null && (
					<span>{t('webhooks.health.median', { time: milliseconds(attempts.median_ms) })}</span>
				)}
				{attempts.successes > 0 && attempts.p95_ms !== null && (
					<span>{t('webhooks.health.p95', { time: milliseconds(attempts.p95_ms) })}</span>
				)}
			</p>
			{!boxed && <Waiting of={health} />}
			{failure && !boxed && (
				<p class="wh-line hint">
					<span>
						<Link href={`/deliveries/${failure.delivery_id}`}>{t('webhooks.health.last')}</Link>: {attemptError(failure)}
					</span>
					<Time at={failure.at} />
				</p>
			)}
			{health.since && (
				<p class="hint">
					{t(health.has_more ? 'webhooks.health.newest' : 'webhooks.health.all', {
						count: number(health.deliveries),
						since: hour(health.since),
					})}
				</p>
			)}
			<Strip hours={health.by_hour} since={health.has_more ? health.since : null} />
		</>
	);
}

/** share says how many attempts succeeded. */
function share({ count, successes }: Health['attempts']): string {
	if (count === 0) {
		return t('webhooks.health.none');
	}
	if (successes > 0) {
		return t('webhooks.health.share', { successes: number(successes), count: number(count) });
	}
	return count === 1 ? t('webhooks.health.share.one') : t('webhooks.health.share.none', { count: number(count) });
}

/** Failing says since when a webhook fails, and what it answered last. */
function Failing(props: { of: Health; failure: NonNullable<Health['last_failure']> }): JSX.Element {
	const { of, failure } = props;
	const { count, successes } = of.attempts;
	// Older deliveries than those of the statistics can have succeeded.
	const since = of.last_success?.at ?? (of.has_more ? of.since : null);
	const says =
		of.health === 'degraded'
			? t('webhooks.outcome.degraded', { failed: number(count - successes), count: number(count) })
			: since
				? t('webhooks.outcome.failing', { time: hour(since) })
				: t('webhooks.outcome.failing.ever');
	return (
		<Outcome tone={of.health === 'degraded' ? 'warn' : 'bad'} badge={<HealthBadge health={of.health} />} says={says}>
			<p>
				<LastAnswer of={failure} />
			</p>
			<Waiting of={of} />
			<p class="wh-line">
				<Link href={`/deliveries/${failure.delivery_id}`}>{t('webhooks.health.last')}</Link>
				<Time at={failure.at} />
			</p>
		</Outcome>
	);
}

/** Waiting shows how many deliveries wait, when the next attempt is due, and how many deliveries failed for good. */
function Waiting(props: { of: Health }): JSX.Element {
	const { of: health } = props;
	const { states } = health;
	return (
		<p class="wh-line">
			<span>
				<Count
					of={states.waiting}
					text={t('webhooks.health.waiting', { count: number(states.waiting) })}
					to={`/deliveries?webhook=${health.webhook_id}&state=waiting`}
				/>
				{health.oldest_waiting_at &&
					t(states.waiting === 1 ? 'webhooks.health.since' : 'webhooks.health.oldest', { time: hour(health.oldest_waiting_at) })}
			</span>
			{states.waiting > 0 && health.next_attempt_at && health.health !== 'paused' && (
				<span>
					{t('webhooks.next')}: <Due at={health.next_attempt_at} />
				</span>
			)}
			<Count
				of={states.failed_unretried}
				text={
					states.failed_unretried === 0
						? t('webhooks.health.failed.none')
						: t('webhooks.health.failed', { count: number(states.failed_unretried) })
				}
				to={`/deliveries?webhook=${health.webhook_id}&state=failed&retried=false`}
			/>
		</p>
	);
}

/** Count links to the deliveries that it counts. A count of zero has none. */
function Count(props: { of: number; text: string; to: string }): JSX.Element {
	return props.of > 0 ? <Link href={props.to}>{props.text}</Link> : <span>{props.text}</span>;
}

const tall = 32;

/**
 * Strip shows 24 hours as bars, with delivered attempts above failed ones. Hours before `since` are left out, because
 * the health does not cover all their attempts.
 */
function Strip(props: { hours: Health['by_hour']; since: string | null }): JSX.Element {
	const covered = (begin: string) => props.since === null || Date.parse(begin) >= Date.parse(props.since);
	const most = Math.max(1, ...props.hours.map((one) => one.delivered + one.failed_attempts));
	const parts = props.hours
		.filter((one) => covered(one.hour) && one.delivered + one.failed_attempts > 0)
		.map((one) =>
			t('webhooks.strip.hour', { hour: hour(one.hour), delivered: number(one.delivered), failed: number(one.failed_attempts) }),
		);
	const label = `${t('webhooks.strip')}: ${parts.length > 0 ? parts.join('; ') : t('webhooks.strip.none')}`;
	return (
		<>
			<p class="hint wh-caption" aria-hidden="true">
				{t('webhooks.strip')}
			</p>
			<svg class="wh-strip" viewBox={`0 0 240 ${tall}`} role="img" aria-label={label} preserveAspectRatio="none">
				{props.hours.map((one, index) => {
					if (!covered(one.hour)) {
						return null;
					}
					const good = (one.delivered / most) * (tall - 2);
					const bad = (one.failed_attempts / most) * (tall - 2);
					return (
						<g key={one.hour}>
							<title>
								{t('webhooks.strip.hour', { hour: hour(one.hour), delivered: number(one.delivered), failed: number(one.failed_attempts) })}
							</title>
							<rect class="ground" x={index * 10} y={0} width={8} height={tall} />
							<rect class="good" x={index * 10} y={tall - good - bad} width={8} height={good} />
							<rect class="bad" x={index * 10} y={tall - bad} width={8} height={bad} />
						</g>
					);
				})}
			</svg>
			<p class="hint wh-strip-ends" aria-hidden="true">
				<span>{t('webhooks.strip.begin')}</span>
				<span>{t('webhooks.strip.end')}</span>
			</p>
		</>
	);
}
