import { useQuery } from '@tanstack/preact-query';
import { useMemo } from 'preact/hooks';
import { api, type Schemas, unwrap } from '../api/client';
import { range } from '../dates';
import type { ListState } from '../ui/List';
import type { Row, Wanted } from './deliveryFeed';

/** Webhook is an endpoint that receives events. */
export type Webhook = Schemas['Webhook'];

/** pageSize is the number of deliveries of a page. */
export const pageSize = 200;

/** deliveries fetches a page of deliveries, newest first. */
export function deliveries(wanted: Wanted, more: { cursor?: string; limit?: number } = {}, signal?: AbortSignal): Promise<ListState<Row>> {
	const query = {
		...range(wanted),
		...(wanted.state ? { state: wanted.state } : {}),
		...(wanted.retried ? { retried: wanted.retried === 'true' } : {}),
		...(wanted.answer ? { status_class: wanted.answer } : {}),
		...(wanted.webhook ? { webhook_id: wanted.webhook } : {}),
		...(wanted.event ? { event_id: wanted.event } : {}),
		...(wanted.type ? { type: wanted.type } : {}),
		limit: more.limit ?? pageSize,
		...(more.cursor ? { cursor: more.cursor } : {}),
	};
	return unwrap(api.GET('/v1/deliveries', { params: { query }, ...(signal ? { signal } : {}) }));
}

/** useWebhooks fetches the first thousand webhooks, for names and selections. */
export function useWebhooks() {
	return useQuery({
		queryKey: ['webhooks', 'all'],
		queryFn: async ({ signal }) => (await unwrap(api.GET('/v1/webhooks', { params: { query: { limit: 1000 } }, signal }))).data,
	});
}

/** useWebhookURLs returns the URLs of webhooks by id. */
export function useWebhookURLs(): ReadonlyMap<string, string> {
	const { data } = useWebhooks();
	return useMemo(() => new Map(data?.map((webhook) => [webhook.id, webhook.url])), [data]);
}

/** usePaused returns the ids of paused webhooks. */
export function usePaused(): ReadonlySet<string> {
	const { data } = useWebhooks();
	return useMemo(() => new Set(data?.filter(({ active }) => !active).map(({ id }) => id)), [data]);
}

/** Envelope is an event with the bytes in which it is sent. */
export interface Envelope {
	raw: string;
	event: Schemas['Event'];
}

/** envelope fetches an event with its bytes. The API returns them unchanged within the reply. */
export async function envelope(id: string, signal: AbortSignal): Promise<Envelope> {
	const text = await unwrap(api.GET('/v1/events/{id}', { params: { path: { id } }, parseAs: 'text', signal }));
	const event = (JSON.parse(text) as { data: Schemas['Event'] }).data;
	const head = '"data":';
	const at = text.indexOf(head);
	return {
		raw:
			at < 0
				? JSON.stringify(event)
				: text
						.slice(at + head.length)
						.trimEnd()
						.slice(0, -1),
		event,
	};
}

/**
 * isRetriable reports whether the API would accept a retry. A delivery whose attempt is under way cannot be
 * retried.
 */
export function isRetriable(delivery: Schemas['Delivery'], now: number): boolean {
	const { state, retried_as, next_attempt_at } = delivery;
	return retried_as === null && (state !== 'waiting' || (next_attempt_at !== null && Date.parse(next_attempt_at) > now));
}

/** retryDelivery retries a delivery and returns the id of the new delivery. */
export async function retryDelivery(id: string): Promise<string | undefined> {
	const reply = await unwrap(api.POST('/v1/deliveries/{id}/retry', { params: { path: { id } } }));
	return reply.delivery_ids[0];
}
