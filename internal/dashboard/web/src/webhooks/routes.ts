import type { Route } from '../routes';

/** routes are the pages of this part. */
export const routes: readonly Route[] = [
	{ path: '/webhooks', load: async () => (await import('./list')).Webhooks },
	{ path: '/webhooks/new', load: async () => (await import('./new')).NewWebhook },
	{ path: '/webhooks/:id', load: async () => (await import('./webhook')).Webhook },
	{ path: '/deliveries', load: async () => (await import('./deliveries')).Deliveries },
	{ path: '/deliveries/:id', load: async () => (await import('./delivery')).Delivery },
	{ path: '/events', load: async () => (await import('./events')).Events },
	{ path: '/events/:id', load: async () => (await import('./event')).Event },
];
