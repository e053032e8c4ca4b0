import type { Route } from '../routes';

/** routes are the pages of the account: keys, people, usage, audit log, sessions. */
export const routes: readonly Route[] = [
	{ path: '/keys', load: async () => (await import('./Keys')).Keys },
	{ path: '/members', load: async () => (await import('./Members')).Members },
	{ path: '/usage', load: async () => (await import('./Usage')).Usage },
	{ path: '/audit', load: async () => (await import('./Audit')).Audit },
	{ path: '/sessions', load: async () => (await import('./Sessions')).Sessions },
];
