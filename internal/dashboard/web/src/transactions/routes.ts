import type { Route } from '../routes';

/** routes are the pages of this part; what is new stands before what has an id. */
export const routes: readonly Route[] = [
	{ path: '/recharges', load: async () => (await import('./recharges')).Recharges },
	{ path: '/recharges/new', load: async () => (await import('./recharge/new')).NewRecharge },
	{ path: '/recharges/:id', load: async () => (await import('./recharge/one')).OneRecharge },
	{ path: '/verifications', load: async () => (await import('./verifications')).Verifications },
	{ path: '/verifications/new', load: async () => (await import('./verify/new')).NewVerification },
	{ path: '/verifications/:id', load: async () => (await import('./verify/one')).OneVerification },
	{ path: '/batches', load: async () => (await import('./batch/list')).Batches },
	{ path: '/batches/new', load: async () => (await import('./batch/new')).NewBatch },
	{ path: '/batches/:id', load: async () => (await import('./batch/one')).OneBatch },
	{ path: '/wallet', load: async () => (await import('./wallet/wallet')).Wallet },
];
