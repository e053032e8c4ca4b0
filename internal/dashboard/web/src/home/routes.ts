import type { Route } from '../routes';

/** routes are the home page. */
export const routes: readonly Route[] = [{ path: '/home', load: async () => (await import('./Home')).Home }];
