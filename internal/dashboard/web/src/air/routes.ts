import type { Route } from '../routes';

/** routes are the pages of this part. */
export const routes: readonly Route[] = [
	{ path: '/', load: async () => (await import('./cities')).Cities },
	{ path: '/air/:city', load: async () => (await import('./city')).City },
	{ path: '/pin/:pincode', load: async () => (await import('./city')).Pin },
	{ path: '/compare', load: async () => (await import('./compare')).Compare },
];
