import type { JSX } from 'preact';
import { Link } from 'wouter-preact';
import { api, unwrap } from '../api/client';
import { t } from '../i18n';
import { hasScope } from '../session';
import { Time } from '../ui/Badge';
import { Rows, useList } from '../ui/List';
import { Card, Facts, Page } from '../ui/Page';
import { AlertBadge, conditionText, placeText, title } from './describe';
import type { Alert } from './draft';
import { RequireAlerts } from './RequireAlerts';
import './alerts.css';

/** Alerts lists the alerts of the account. */
export function Alerts(): JSX.Element {
	return (
		<Page
			title={t('alerts.title')}
			actions={
				hasScope('alerts:manage') && (
					<Link href="/alerts/new" class="primary">
						{t('alerts.add')}
					</Link>
				)
			}
		>
			<RequireAlerts>
				<p class="hint">{t('alerts.about')}</p>
				<All />
			</RequireAlerts>
		</Page>
	);
}

function All(): JSX.Element {
	const list = useList<Alert>(['alerts', 'list'], (cursor, signal) =>
		unwrap(api.GET('/v1/alerts', { params: { query: { limit: 50, ...(cursor ? { cursor } : {}) } }, signal })),
	);
	return (
		<Rows list={list} empty={t('alerts.none')} hint={<NoneHint />}>
			{(rows) => (
				<ul class="alerts cards">
					{rows.map((alert) => (
						<li key={alert.id}>
							<One alert={alert} />
						</li>
					))}
				</ul>
			)}
		</Rows>
	);
}

function NoneHint(): JSX.Element {
	return (
		<>
			<p>{t('alerts.none.hint')}</p>
			{hasScope('webhooks:manage') && (
				<p>
					<Link href="/webhooks/new" class="button">
						{t('webhooks.new')}
					</Link>
				</p>
			)}
		</>
	);
}

function One(props: { alert: Alert }): JSX.Element {
	const { alert } = props;
	return (
		<Card>
			<header class="card-head">
				<h2 class="alerts-name">
					<Link href={`/alerts/${alert.id}`}>{title(alert)}</Link>
				</h2>
				<AlertBadge alert={alert} />
			</header>
			<p>{conditionText(alert.condition)}</p>
			<Facts
				of={[
					[t('alerts.place'), alert.name ? placeText(alert.place) : undefined],
					[t('alerts.changed'), alert.changed_at ? <Time key="at" at={alert.changed_at} relative /> : t('alerts.never')],
				]}
			/>
		</Card>
	);
}
