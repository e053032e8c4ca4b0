import type { Route } from '../routes';

/** routes are the pages of the webhooks section. */
export const routes: readonly Route[] = [
	{ path: '/webhooks', load: async () => (await import('./WebhookList')).Webhooks },
	{ path: '/webhooks/new', load: async () => (await import('./NewWebhookPage')).NewWebhook },
	{ path: '/webhooks/:id', load: async () => (await import('./WebhookDetail')).Webhook },
	{ path: '/deliveries', load: async () => (await import('./DeliveryList')).Deliveries },
	{ path: '/deliveries/:id', load: async () => (await import('./DeliveryDetail')).Delivery },
	{ path: '/event-types', load: async () => (await import('./EventTypes')).EventTypes },
	{ path: '/event-types/:type', load: async () => (await import('./EventTypes')).OneEventType },
	{ path: '/events', load: async () => (await import('./EventList')).Events },
	{ path: '/events/:id', load: async () => (await import('./EventDetail')).Event },
];
