import { useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { api, unwrap } from '../api/client';
import { liveQuery } from '../api/liveStream';
import { queries } from '../api/queries';
import { t } from '../i18n';
import { Fetched } from '../ui/FetchState';
import { Select } from '../ui/Field';
import { Form, type IdempotencyKey } from '../ui/Form';
import { attemptError } from './attemptError';
import { DeliveryBadge, Due, milliseconds, responseText } from './DeliveryBadge';
import { type EventType, mostAttempts, offeredTypes } from './eventTypes';
import { useDeliveryNotices } from './useDeliveries';

/** useDelivery fetches one delivery, and refetches it after a notice about it. */
export function useDelivery(id: string) {
	const query = useQuery({
		queryKey: ['deliveries', 'one', id],
		...liveQuery,
		queryFn: async ({ signal }) => (await unwrap(api.GET('/v1/deliveries/{id}', { params: { path: { id } }, signal }))).data,
	});
	useDeliveryNotices(
		(one) => one.id === id,
		500,
		() => void query.refetch(),
	);
	return query;
}

/** SendTest sends a test event to a webhook and shows its delivery. */
export function SendTest(props: { id: string; events: readonly EventType[] }): JSX.Element {
	const [type, setType] = useState<EventType>();
	const [sent, setSent] = useState<string>();
	const chosen = type && props.events.includes(type) ? type : props.events[0];
	const send = async (idempotencyKey: IdempotencyKey) => {
		const body = chosen ? { type: chosen } : {};
		const params = { path: { id: props.id }, header: { 'Idempotency-Key': idempotencyKey(body) } };
		setSent((await unwrap(api.POST('/v1/webhooks/{id}/test', { params, body }))).delivery_id);
	};
	return (
		<>
			<Form class="filters wh-filters" submit={send} button={t('webhooks.test.send')}>
				<Select
					label={t('webhooks.test.type')}
					value={chosen ?? ''}
					options={offeredTypes(true)
						.filter((one) => props.events.includes(one))
						.map((one) => [one, one] as const)}
					change={(value) => value && setType(value)}
				/>
			</Form>
			{sent && <Followed key={sent} id={sent} />}
		</>
	);
}

/** Followed shows the current state of one delivery. */
export function Followed(props: { id: string }): JSX.Element {
	const query = useDelivery(props.id);
	const { state, attempts_made } = query.data ?? {};
	// Notices refetch the health of a webhook at a limited rate. Until then the old health would contradict this delivery.
	useEffect(() => {
		for (const queryKey of [['health'], ['deliveries', 'list']]) {
			void queries.invalidateQueries({ queryKey });
		}
	}, [state, attempts_made]);
	return (
		<div class="wh-followed">
			<Fetched query={query}>
				{(delivery) => (
					<div class="wh-line">
						<p class="wh-line" role="status">
							<DeliveryBadge of={delivery} />
							<code>{delivery.event_type}</code>
							{delivery.attempts_made > 0 && (
								<span>{t('webhooks.attempts.made', { made: delivery.attempts_made, most: mostAttempts })}</span>
							)}
							{delivery.last_attempt && (
								<span>
									{responseText(delivery.last_attempt)}, {milliseconds(delivery.last_attempt.duration_ms)}
								</span>
							)}
							{delivery.last_attempt?.error && <span class="wrong">{attemptError(delivery.last_attempt)}</span>}
						</p>
						{delivery.state === 'waiting' && delivery.attempts_made > 0 && <Due at={delivery.next_attempt_at} />}
						<Link href={`/deliveries/${delivery.id}`}>{t('webhooks.test.open')}</Link>
					</div>
				)}
			</Fetched>
		</div>
	);
}
