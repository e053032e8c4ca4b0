import { useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { Link } from 'wouter-preact';
import { Meter } from '../account/Usage';
import { AlertBadge, title } from '../alerts/describe';
import { api, unwrap } from '../api/client';
import { number } from '../format';
import { t } from '../i18n';
import { Fetched } from '../ui/FetchState';
import { Card } from '../ui/Page';
import { HealthBadge } from '../webhooks/DeliveryBadge';

// The API reads up to 8,000 attempts for the health of one webhook.
const mostWebhooks = 5;

/** WebhooksCard shows the health of the newest webhooks. */
export function WebhooksCard(): JSX.Element {
	const query = useQuery({
		queryKey: ['webhooks', 'home'],
		queryFn: ({ signal }) => unwrap(api.GET('/v1/webhooks', { params: { query: { limit: mostWebhooks } }, signal })),
	});
	return (
		<Card title={t('home.webhooks')} actions={<Link href="/webhooks">{t('shell.webhooks')}</Link>}>
			<Fetched query={query}>
				{({ data }) =>
					data.length === 0 ? (
						<p class="hint">{t('webhooks.none')}</p>
					) : (
						<ul class="home-list">
							{data.map(({ id, url }) => (
								<li key={id}>
									<Link href={`/webhooks/${id}`} class="id">
										{url}
									</Link>
									<Health id={id} />
								</li>
							))}
						</ul>
					)
				}
			</Fetched>
		</Card>
	);
}

function Health(props: { id: string }): JSX.Element {
	const { id } = props;
	const query = useQuery({
		queryKey: ['health', id],
		queryFn: ({ signal }) => unwrap(api.GET('/v1/webhooks/{id}/health', { params: { path: { id } }, signal })),
	});
	return (
		<Fetched query={query}>
			{({ health, states }) => (
				<>
					<HealthBadge health={health} />
					{states.failed_unretried > 0 && (
						<Link href={`/deliveries?webhook=${id}&state=failed&retried=false`}>
							{t('webhooks.health.failed', { count: number(states.failed_unretried) })}
						</Link>
					)}
				</>
			)}
		</Fetched>
	);
}

/** AlertsCard shows the triggered alerts. */
export function AlertsCard(): JSX.Element {
	const query = useQuery({
		queryKey: ['alerts', 'home'],
		queryFn: ({ signal }) => unwrap(api.GET('/v1/alerts', { params: { query: { limit: 1000 } }, signal })),
	});
	return (
		<Card title={t('home.alerts')} actions={<Link href="/alerts">{t('shell.alerts')}</Link>}>
			<Fetched query={query}>
				{({ data }) => {
					const triggered = data.filter(({ active, state }) => active && state === 'triggered');
					return triggered.length === 0 ? (
						<p class="hint">{t('home.alerts.none', { count: number(data.length) })}</p>
					) : (
						<ul class="home-list">
							{triggered.map((alert) => (
								<li key={alert.id}>
									<Link href={`/alerts/${alert.id}`}>{title(alert)}</Link>
									<AlertBadge alert={alert} />
								</li>
							))}
						</ul>
					);
				}}
			</Fetched>
		</Card>
	);
}

/** QuotaCard shows the quota of the month. */
export function QuotaCard(): JSX.Element {
	const account = useQuery({ queryKey: ['usage', 'account'], queryFn: ({ signal }) => unwrap(api.GET('/v1/account', { signal })) });
	return (
		<Card title={t('account.quota')} actions={<Link href="/usage">{t('shell.usage')}</Link>}>
			<Fetched query={account}>
				{({ quota, mode }) =>
					quota ? <Meter of={quota} /> : <p class="hint">{t(mode === 'live' ? 'account.quota.none' : 'account.quota.sandbox')}</p>
				}
			</Fetched>
		</Card>
	);
}
