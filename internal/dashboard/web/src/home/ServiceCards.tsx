import { useQueries, useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { Link } from 'wouter-preact';
import { Meter } from '../account/Usage';
import { AlertBadge, title } from '../alerts/describe';
import { api, type Schemas, unwrap } from '../api/client';
import { number, percent } from '../format';
import { t } from '../i18n';
import { Fetched } from '../ui/FetchState';
import { HealthBadge } from '../webhooks/DeliveryBadge';
import { Figure, HomeCard } from './HomeCard';

// The API reads up to 8,000 attempts for the health of one webhook.
const mostWebhooks = 5;

/** mostAlerts is the number of triggered alerts that the card lists. */
const mostAlerts = 5;

/** WebhooksCard shows the health of the newest webhooks. */
export function WebhooksCard(): JSX.Element {
	const query = useQuery({
		queryKey: ['webhooks', 'home'],
		queryFn: ({ signal }) => unwrap(api.GET('/v1/webhooks', { params: { query: { limit: mostWebhooks } }, signal })),
	});
	return (
		<HomeCard title={t('home.webhooks')} to="/webhooks" link={t('shell.webhooks')}>
			<Fetched query={query}>
				{({ data, has_more }) =>
					data.length === 0 ? <Figure value={t('webhooks.none')}>{t('home.webhooks.none')}</Figure> : <Healths of={data} more={has_more} />
				}
			</Fetched>
		</HomeCard>
	);
}

/** Healths counts the webhooks that need attention, and lists all. */
function Healths(props: { of: readonly Schemas['Webhook'][]; more: boolean }): JSX.Element {
	const healths = useQueries({
		queries: props.of.map(({ id }) => ({
			queryKey: ['health', id],
			queryFn: ({ signal }: { signal: AbortSignal }) => unwrap(api.GET('/v1/webhooks/{id}/health', { params: { path: { id } }, signal })),
		})),
	});
	const known = healths.every(({ data }) => data);
	const has = (health: Schemas['WebhookHealth']['health']) => healths.filter(({ data }) => data?.health === health).length;
	const all = number(props.of.length);
	const degraded = has('degraded');
	return (
		<>
			<Figure value={known ? t('home.webhooks.failing', { count: number(has('failing')), all }) : '–'}>
				{[props.more && t('home.webhooks.newest', { count: all }), degraded > 0 && t('home.webhooks.degraded', { count: number(degraded) })]
					.filter(Boolean)
					.join(' · ')}
			</Figure>
			<ul class="home-list">
				{props.of.map(({ id, url }, index) => {
					const health = healths[index];
					const failed = health?.data?.states.failed_unretried ?? 0;
					return (
						<li key={id}>
							<Link href={`/webhooks/${id}`} title={url}>
								{url}
							</Link>
							{health?.data && <HealthBadge health={health.data.health} />}
							{failed > 0 && (
								<Link href={`/deliveries?webhook=${id}&state=failed&retried=false`}>
									{t('webhooks.health.failed', { count: number(failed) })}
								</Link>
							)}
							{health?.isError && <span class="wrong">{t('state.error')}</span>}
						</li>
					);
				})}
			</ul>
		</>
	);
}

/** AlertsCard shows the triggered alerts. */
export function AlertsCard(): JSX.Element {
	const query = useQuery({
		queryKey: ['alerts', 'home'],
		queryFn: ({ signal }) => unwrap(api.GET('/v1/alerts', { params: { query: { limit: 1000 } }, signal })),
	});
	return (
		<HomeCard title={t('home.alerts')} to="/alerts" link={t('shell.alerts')}>
			<Fetched query={query}>
				{({ data }) => {
					const triggered = data.filter(({ active, state }) => active && state === 'triggered');
					return (
						<>
							{data.length === 0 ? (
								<Figure value={t('home.alerts.empty')}>{t('home.alerts.empty.hint')}</Figure>
							) : (
								<Figure value={t('home.alerts.of', { count: number(triggered.length), all: number(data.length) })} />
							)}
							{triggered.length > 0 && (
								<ul class="home-list">
									{triggered.slice(0, mostAlerts).map((alert) => (
										<li key={alert.id}>
											<Link href={`/alerts/${alert.id}`} title={title(alert)}>
												{title(alert)}
											</Link>
											<AlertBadge alert={alert} />
										</li>
									))}
									{triggered.length > mostAlerts && (
										<li class="hint">{t('home.alerts.more', { count: number(triggered.length - mostAlerts) })}</li>
									)}
								</ul>
							)}
						</>
					);
				}}
			</Fetched>
		</HomeCard>
	);
}

/** QuotaCard shows the quota of the month. */
export function QuotaCard(): JSX.Element {
	const account = useQuery({ queryKey: ['usage', 'account'], queryFn: ({ signal }) => unwrap(api.GET('/v1/account', { signal })) });
	return (
		<HomeCard title={t('account.quota')} to="/usage" link={t('shell.usage')}>
			<Fetched query={account}>
				{({ quota, mode }) =>
					quota ? (
						<>
							<p class="amount">{t('home.quota.used', { percent: percent(quota.used, quota.limit) })}</p>
							<Meter of={quota} />
						</>
					) : (
						<Figure value={t('home.quota.none')}>{t(mode === 'live' ? 'account.quota.none' : 'account.quota.sandbox')}</Figure>
					)
				}
			</Fetched>
		</HomeCard>
	);
}
