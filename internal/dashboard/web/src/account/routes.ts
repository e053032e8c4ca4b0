import type { Route } from '../routes';

/** routes are the pages of this part. */
export const routes: readonly Route[] = [];
