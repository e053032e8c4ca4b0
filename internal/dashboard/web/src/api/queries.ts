import { QueryClient } from '@tanstack/preact-query';
import { Problem } from './client';

/** patience is the maximum number of retries of a read after a transient error. */
export const patience = 2;

/**
 * queries is the query cache. The first part of a key is the kind of data (deliveries, events, batches, air ...),
 * by which notices of the SSE stream invalidate queries.
 */
export const queries = new QueryClient({
	defaultOptions: {
		queries: {
			staleTime: 15_000,
			refetchOnWindowFocus: true,
			retry: (count, error) => error instanceof Problem && error.passing && count < patience,
			retryDelay: (count, error) => (error instanceof Problem && error.retryAfter ? error.retryAfter * 1000 : 500 * 2 ** count),
		},
	},
});

/**
 * invalidate marks all queries whose key starts with one of the given kinds as stale, and refetches the mounted
 * ones.
 */
export function invalidate(...first: readonly string[]): void {
	for (const word of first) {
		void queries.invalidateQueries({ queryKey: [word] });
	}
}
