import { useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { Schemas } from '../api/client';
import { t } from '../i18n';
import { SubjectLink } from '../subject';
import { Badge, CopyableText, Time } from '../ui/Badge';
import { Breakable } from '../ui/Breakable';
import { Fetched } from '../ui/FetchState';
import { Form } from '../ui/Form';
import { Card, Facts, Page } from '../ui/Page';
import { WebAddress } from '../ui/WebAddress';
import { Attempts } from './AttemptTable';
import { attemptGroups } from './attemptGroups';
import { CompareAttempts } from './CompareAttempts';
import { subscribesTo } from './DeliveryBadge';
import { DeliveryOutcome } from './DeliveryOutcome';
import { eventSubject, mostAttempts } from './eventTypes';
import { Payload } from './payload';
import { envelope, isRetriable, retryDelivery, usePaused } from './queries';
import { useDelivery } from './SendTestEvent';
import './webhooks.css';

/** Delivery shows the delivery of one event to one webhook with every attempt. */
export function Delivery(props: { id?: string }): JSX.Element {
	const id = props.id ?? '';
	const query = useDelivery(id);
	return (
		<Page title={t('webhooks.delivery')} actions={<Link href="/deliveries">{t('webhooks.delivery.back')}</Link>}>
			<Fetched query={query}>{(delivery) => <One delivery={delivery} look={() => void query.refetch()} />}</Fetched>
		</Page>
	);
}

function One(props: { delivery: Schemas['DeliveryDetailed']; look: () => void }): JSX.Element {
	const { delivery } = props;
	const [made, setMade] = useState<string>();
	const paused = usePaused().has(delivery.webhook_id);
	const retry = async () => {
		setMade(await retryDelivery(delivery.id));
		props.look();
	};
	const next = made ?? delivery.retried_as;
	return (
		<>
			<Card>
				<header class="card-head">
					<h2>
						<code>
							<Breakable of={delivery.event_type} />
						</code>
					</h2>
					{!next && isRetriable(delivery, Date.now()) && (
						<Form submit={retry} button={t(delivery.state === 'waiting' ? 'webhooks.retry.now' : 'webhooks.retry')} tone="primary" />
					)}
				</header>
				<DeliveryOutcome of={delivery} paused={paused} />
				<p role="status">
					{next && (
						<>
							{t('webhooks.retried.as')} <SubjectLink id={next} />
						</>
					)}
				</p>
				{delivery.retry_of && (
					<p>
						{t('webhooks.retry.of')} <SubjectLink id={delivery.retry_of} />
					</p>
				)}
				<Facts
					of={[
						[t('webhooks.id'), <CopyableText key="id" value={delivery.id} />],
						[
							t('webhooks.endpoint'),
							<Link key="url" href={`/webhooks/${delivery.webhook_id}`}>
								<WebAddress of={delivery.url || delivery.webhook_id} />
							</Link>,
						],
						[t('webhooks.attempts'), t('webhooks.attempts.of', { made: delivery.attempts_made, most: mostAttempts })],
						[t('webhooks.created'), <Time key="created" at={delivery.created_at} exact />],
						[t('webhooks.finished'), delivery.finished_at ? <Time key="finished" at={delivery.finished_at} exact /> : undefined],
					]}
				/>
			</Card>
			<Card title={t('webhooks.attempts.title')}>
				<Attempts delivery={delivery} paused={paused} />
			</Card>
			{attemptGroups(delivery.attempts).length > 1 && (
				<Card title={t('webhooks.compare')}>
					<CompareAttempts attempts={delivery.attempts} />
				</Card>
			)}
			<EventCard id={delivery.event_id} type={delivery.event_type} />
		</>
	);
}

function EventCard(props: { id: string; type: Schemas['EventType'] }): JSX.Element {
	return (
		<Card title={t('webhooks.event')} actions={<SubjectLink id={props.id} />}>
			<p class="hint">{subscribesTo(props.type)}</p>
			<EventContent id={props.id} />
		</Card>
	);
}

/** EventContent shows the subject, the time and the body of an event, and on a page of its own also its type and its id. */
export function EventContent(props: { id: string; alone?: boolean }): JSX.Element {
	const query = useQuery({
		queryKey: ['events', 'one', props.id],
		// Events are immutable.
		staleTime: Number.POSITIVE_INFINITY,
		queryFn: ({ signal }) => envelope(props.id, signal),
	});
	return (
		<Fetched query={query}>
			{({ event, raw }) => (
				<>
					{props.alone && (
						<header class="card-head">
							<h2>
								<code>{event.type}</code>
							</h2>
							<CopyableText value={event.id} />
						</header>
					)}
					<p class="wh-line">
						<Subject data={event.data} />
						<Time at={new Date(event.created * 1000).toISOString()} exact />
					</p>
					<Payload raw={raw} />
				</>
			)}
		</Fetched>
	);
}

/** Subject links to the record that an event is about. */
export function Subject(props: { data: Record<string, unknown> }): JSX.Element {
	const subject = eventSubject(props.data);
	if (subject) {
		return <SubjectLink id={subject.id} />;
	}
	return props.data.test === true ? <Badge tone="quiet">{t('webhooks.event.test')}</Badge> : <span>–</span>;
}
