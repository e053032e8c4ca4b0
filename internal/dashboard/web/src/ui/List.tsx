import { type InfiniteData, type UseInfiniteQueryResult, useInfiniteQuery } from '@tanstack/preact-query';
import type { ComponentChildren, JSX } from 'preact';
import { t } from '../i18n';
import { Empty, Failed, Loading } from './FetchState';

/** ListState is one page of a list of the API. */
export interface ListState<T> {
	data: T[];
	has_more: boolean;
	next_cursor: string | null;
}

/** List is the query of all fetched pages of a list. */
export type List<T> = UseInfiniteQueryResult<InfiniteData<ListState<T>>, Error>;

/** useList fetches a list of the API page by page. load gets the cursor of a page, undefined for the first. */
export function useList<T>(
	key: readonly unknown[],
	load: (cursor: string | undefined, signal: AbortSignal) => Promise<ListState<T>>,
): List<T> {
	return useInfiniteQuery({
		queryKey: key,
		queryFn: ({ pageParam, signal }) => load(pageParam, signal),
		initialPageParam: undefined as string | undefined,
		getNextPageParam: (last) => last.next_cursor ?? undefined,
	});
}

/**
 * Rows shows the fetched rows of a list, and fetches more on demand. A page of the API can be empty although more
 * follow.
 */
export function Rows<T>(props: {
	list: List<T>;
	empty: string;
	hint?: ComponentChildren;
	children: (rows: T[]) => JSX.Element;
}): JSX.Element {
	const { list } = props;
	if (!list.data) {
		return list.error ? <Failed error={list.error} again={() => void list.refetch()} /> : <Loading />;
	}
	const rows = list.data.pages.flatMap((page) => page.data);
	return (
		<>
			{rows.length > 0 ? props.children(rows) : !list.hasNextPage && <Empty title={props.empty}>{props.hint}</Empty>}
			{list.error && <Failed error={list.error} again={() => void (list.isFetchNextPageError ? list.fetchNextPage() : list.refetch())} />}
			{list.hasNextPage && !list.error && (
				<button type="button" disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
					{list.isFetchingNextPage ? t('state.loading') : t('state.more')}
				</button>
			)}
		</>
	);
}
