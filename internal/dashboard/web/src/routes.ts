import type { JSX } from 'preact';
import type { Schemas } from './api/client';
import type { Key } from './i18n';

/**
 * Route is a page below /dashboard. Its module is fetched when the page is first opened. Parameters of the path,
 * such as :id, become properties of the component.
 */
export interface Route {
	path: string;
	load: () => Promise<(parameters: Record<string, string>) => JSX.Element>;
}

/** signUpPath is the address of the sign-up page. The link in a mail leads to the page confirm below it. */
export const signUpPath = '/dashboard/signup';

/** linkPath is the address of the page that the link in a mail opens, with its token after #. */
export const linkPath = '/dashboard/sign-in';

/** Entry is an entry of the navigation. */
export interface Entry {
	to: string;
	name: Key;
	/** also are prefixes of other addresses that belong to the entry. */
	also?: readonly string[];
	/** scope is the scope without which the page shows nothing. Of several, one is enough. */
	scope?: Scope | readonly Scope[];
}

type Scope = Schemas['Scope'];

/** isAllowed reports whether a key with scopes can use the page of an entry. */
export function isAllowed(entry: Entry, has: (scope: Scope) => boolean): boolean {
	return entry.scope === undefined || [entry.scope].flat().some((scope) => has(scope as Scope));
}

/** startOf returns the address at which a key starts: the map, or the home page if it cannot read the air. */
export function startOf(has: (scope: Scope) => boolean): string {
	return has('aqi:read') ? '/' : '/home';
}

/** Group is entries with a heading. */
export interface Group {
	name: Key;
	entries: readonly Entry[];
}

/** groups are the entries of the navigation. */
export const groups: readonly Group[] = [
	{ name: 'shell.overview', entries: [{ to: '/home', name: 'home.title' }] },
	{
		name: 'shell.air',
		entries: [
			{ to: '/', name: 'shell.map', also: ['/air', '/pin', '/station'], scope: 'aqi:read' },
			{ to: '/rankings', name: 'shell.rankings', scope: 'aqi:read' },
			{ to: '/compare', name: 'shell.compare', scope: 'aqi:read' },
			{ to: '/forecast', name: 'shell.forecast', scope: 'aqi:read' },
			{ to: '/alerts', name: 'shell.alerts', scope: 'alerts:manage' },
			{ to: '/sources', name: 'shell.sources', scope: 'aqi:read' },
		],
	},
	{
		name: 'shell.transactions',
		entries: [
			{ to: '/recharges', name: 'shell.recharges', scope: 'recharge:read' },
			{ to: '/verifications', name: 'shell.verifications', scope: 'verify:read' },
			{ to: '/batches', name: 'shell.batches', scope: ['recharge:read', 'verify:read'] },
			{ to: '/wallet', name: 'shell.wallet', scope: 'recharge:read' },
		],
	},
	{
		name: 'shell.settings',
		entries: [
			{ to: '/webhooks', name: 'shell.webhooks', also: ['/event-types'], scope: 'webhooks:manage' },
			{ to: '/deliveries', name: 'shell.deliveries', scope: 'webhooks:manage' },
			{ to: '/events', name: 'webhooks.event.all', scope: 'webhooks:manage' },
			{ to: '/keys', name: 'shell.keys', scope: 'account:read' },
			{ to: '/members', name: 'shell.members', scope: 'keys:manage' },
			{ to: '/usage', name: 'shell.usage', scope: 'account:read' },
			{ to: '/audit', name: 'shell.audit', scope: 'account:read' },
			{ to: '/sessions', name: 'shell.sessions' },
		],
	},
];

/** isCurrent reports whether a page belongs to an entry of the navigation. */
export function isCurrent(location: string, entry: Entry): boolean {
	const below = (start: string) => location === start || location.startsWith(`${start}/`);
	return (entry.to === '/' ? location === '/' : below(entry.to)) || (entry.also ?? []).some(below);
}
