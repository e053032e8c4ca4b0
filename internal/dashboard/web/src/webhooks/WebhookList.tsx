import type { JSX } from 'preact';
import { Link } from 'wouter-preact';
import { api, unwrap } from '../api/client';
import { t } from '../i18n';
import { Time } from '../ui/Badge';
import { Rows, useList } from '../ui/List';
import { Card, Facts, Page } from '../ui/Page';
import { WebAddress } from '../ui/WebAddress';
import { HealthLine } from './HealthLine';
import type { Webhook } from './queries';
import './webhooks.css';

/** Webhooks lists the webhooks of the account. */
export function Webhooks(): JSX.Element {
	const list = useList<Webhook>(['webhooks', 'list'], (cursor, signal) =>
		unwrap(api.GET('/v1/webhooks', { params: { query: { limit: 50, ...(cursor ? { cursor } : {}) } }, signal })),
	);
	// An empty list has the button itself.
	const some = !list.data || list.data.pages.some(({ data }) => data.length > 0);
	return (
		<Page
			title={t('webhooks.title')}
			actions={
				<>
					<Link href="/event-types">{t('webhooks.types')}</Link>
					<Link href="/deliveries">{t('webhooks.deliveries')}</Link>
					{some && (
						<Link href="/webhooks/new" class="primary">
							{t('webhooks.add')}
						</Link>
					)}
				</>
			}
		>
			<p class="hint">{t('webhooks.about')}</p>
			<Rows list={list} empty={t('webhooks.none')} hint={<None />}>
				{(rows) => (
					<>
						{rows.map((webhook) => (
							<One key={webhook.id} webhook={webhook} />
						))}
					</>
				)}
			</Rows>
		</Page>
	);
}

function None(): JSX.Element {
	return (
		<>
			<p>{t('webhooks.none.hint')}</p>
			<Link href="/webhooks/new" class="primary">
				{t('webhooks.add')}
			</Link>
		</>
	);
}

function One(props: { webhook: Webhook }): JSX.Element {
	const { webhook } = props;
	return (
		<Card>
			<header class="card-head">
				<h2>
					<Link href={`/webhooks/${webhook.id}`}>
						<WebAddress of={webhook.url} />
					</Link>
				</h2>
			</header>
			<HealthLine id={webhook.id} />
			<Facts
				of={[
					[t('webhooks.secret'), <code key="secret">…{webhook.secret_last4}</code>],
					[t('webhooks.created'), <Time key="created" at={webhook.created_at} />],
				]}
			/>
			<div>
				<h3 class="wh-label">{t('webhooks.events')}</h3>
				<Types of={webhook.events} />
			</div>
		</Card>
	);
}

/** Types shows the event types of a webhook. */
export function Types(props: { of: readonly string[] }): JSX.Element {
	return (
		<ul class="wh-types">
			{props.of.map((type) => (
				<li key={type}>
					<code>{type}</code>
				</li>
			))}
		</ul>
	);
}
