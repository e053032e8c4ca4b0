import type { Route } from '../routes';

/** routes are the pages of the alerts about the air. */
export const routes: readonly Route[] = [
	{ path: '/alerts', load: async () => (await import('./AlertList')).Alerts },
	{ path: '/alerts/new', load: async () => (await import('./NewAlertPage')).NewAlert },
	{ path: '/alerts/:id', load: async () => (await import('./AlertDetail')).Alert },
];
