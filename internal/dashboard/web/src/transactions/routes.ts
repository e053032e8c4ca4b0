import type { Route } from '../routes';

/** routes are the pages of the transactions section. Paths that end in /new precede those with an id. */
export const routes: readonly Route[] = [
	{ path: '/recharges', load: async () => (await import('./RechargeList')).Recharges },
	{ path: '/recharges/new', load: async () => (await import('./recharge/NewRechargePage')).NewRechargePage },
	{ path: '/recharges/:id', load: async () => (await import('./recharge/RechargeDetail')).RechargeDetail },
	{ path: '/verifications', load: async () => (await import('./VerificationList')).Verifications },
	{ path: '/verifications/new', load: async () => (await import('./verify/NewVerificationPage')).NewVerificationPage },
	{ path: '/verifications/:id', load: async () => (await import('./verify/VerificationDetail')).VerificationDetail },
	{ path: '/batches', load: async () => (await import('./batch/BatchList')).Batches },
	{ path: '/batches/new', load: async () => (await import('./batch/NewBatchPage')).NewBatchPage },
	{ path: '/batches/:id', load: async () => (await import('./batch/BatchDetail')).BatchDetail },
	{ path: '/wallet', load: async () => (await import('./wallet/Wallet')).Wallet },
];
