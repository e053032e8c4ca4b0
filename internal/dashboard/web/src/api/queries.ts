import { QueryClient } from '@tanstack/preact-query';
import { Problem } from './client';

/** patience is how often a call that only reads is made again when it may succeed later. */
const patience = 2;

/**
 * queries keeps what was fetched. The first part of a key names what it is about
 * (deliveries, events, batches, air ...), so that a notice of the live stream can say
 * what is to be fetched again.
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

/** invalidate has everything fetched again whose key begins with one of these words, where it is shown. */
export function invalidate(...first: readonly string[]): void {
	for (const word of first) {
		void queries.invalidateQueries({ queryKey: [word] });
	}
}
