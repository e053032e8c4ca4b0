import { type UseQueryResult, useQuery } from '@tanstack/preact-query';
import type { operations } from '../../made/schema';
import { api, unwrap } from '../api/client';

type Replies = {
	list: operations['listSources']['responses'][200]['content']['application/json'];
	one: operations['getSource']['responses'][200]['content']['application/json'];
};

/** SourceDetail is what operators see of a source. */
export type SourceDetail = Replies['one']['data'];

// The monitor checks the sources each minute.
const refetchInterval = 60_000;

/** useSources reads the list of sources. */
export function useSources(): UseQueryResult<Replies['list'], Error> {
	return useQuery({
		queryKey: ['sources'],
		queryFn: ({ signal }) => unwrap(api.GET('/v1/sources', { signal })),
		refetchInterval,
	});
}

/** useSource reads the runs and the rejected values of a source. Its key needs sources:read. */
export function useSource(source: string): UseQueryResult<Replies['one'], Error> {
	return useQuery({
		queryKey: ['sources', source],
		queryFn: ({ signal }) => unwrap(api.GET('/v1/sources/{source}', { params: { path: { source } }, signal })),
		refetchInterval,
	});
}

/** sourcePath returns the page of a source. */
export function sourcePath(source: string): string {
	return `/sources/${encodeURIComponent(source)}`;
}
