import { signal } from '@preact/signals';
import type { Query, QueryClient } from '@tanstack/preact-query';
import { clock } from './client';
import { queries } from './queries';

/** Notice is an event of the SSE stream: the kind of object that changed, and data to identify it. */
export interface Notice {
	kind: string;
	data: Record<string, unknown>;
}

/** isConnected reports whether the SSE stream is open. While it is not, lists can be stale. */
export const isConnected = signal(false);

/** isLost reports whether the SSE stream has broken and is not open again. */
export const isLost = signal(false);

type Listener = (notice: Notice) => void;
const listeners = new Set<Listener>();

/** onNotice subscribes to all notices. The returned function unsubscribes. */
export function onNotice(listener: Listener): () => void {
	listeners.add(listener);
	return () => listeners.delete(listener);
}

/** The queries that a kind of notice invalidates, by the first part of their keys. */
const invalidatedBy: Record<string, readonly string[]> = {
	air: ['air'],
	batch: ['batches'],
	delivery: ['deliveries', 'health'],
	event: ['events', 'recharges', 'verifications', 'wallet', 'audit', 'alerts'],
};

/**
 * liveQuery is the options of a query that handles notices itself, because it detects which of its rows changed.
 * The Refresher does not invalidate it. It receives no notices while it is not mounted, so every mount and every
 * change of filter fetches it.
 */
export const liveQuery = { meta: { live: 'self' }, staleTime: 0 } as const;

/** pause is how long notices are collected before their queries are fetched, in milliseconds. */
const pause = 400;

/**
 * atMost is the minimum time between two refreshes, in milliseconds. A query that is still fetching is postponed
 * to the next refresh.
 */
const atMost = 1000;

/** tolerance is added to the time of a publication, because clocks are compared to the second. */
const tolerance = 5000;

/** publishedAt returns when the air of a notice was published, by the clock of this computer. */
function publishedAt(notice: Notice): number {
	const built = typeof notice.data.built === 'string' ? Date.parse(notice.data.built) : Number.NaN;
	return Number.isNaN(built) ? Number.POSITIVE_INFINITY : built + clock.ahead + tolerance;
}

/** Refresher fetches the queries that notices invalidate, at a limited rate. */
export class Refresher {
	private readonly old = new Set<string>();
	private timer: ReturnType<typeof setTimeout> | undefined;
	private last = Number.NEGATIVE_INFINITY;
	/** published is when the newest air was published. Queries that were fetched later have it already. */
	private published = Number.POSITIVE_INFINITY;

	constructor(private readonly client: QueryClient) {}

	/** add schedules the queries that a notice invalidates. */
	add(notice: Notice): void {
		const kinds = notice.kind === 'reset' ? resetKinds(notice) : [notice.kind];
		for (const kind of kinds) {
			if (kind === 'air') {
				this.published = notice.kind === 'air' ? publishedAt(notice) : Number.POSITIVE_INFINITY;
			}
			for (const first of invalidatedBy[kind] ?? []) {
				this.old.add(first);
			}
		}
		if (this.old.size > 0) {
			this.plan();
		}
	}

	/** stop cancels the scheduled refresh. */
	stop(): void {
		clearTimeout(this.timer);
		this.timer = undefined;
		this.old.clear();
	}

	private plan(): void {
		this.timer ??= setTimeout(() => this.refresh(), Math.max(pause, this.last + atMost - Date.now()));
	}

	private refresh(): void {
		this.timer = undefined;
		this.last = Date.now();
		for (const first of this.old) {
			const mine = { queryKey: [first], predicate: (query: Query) => query.meta?.live !== liveQuery.meta.live };
			if (this.client.isFetching(mine) === 0) {
				this.old.delete(first);
				const isOld = (query: Query) => mine.predicate(query) && (first !== 'air' || query.state.dataUpdatedAt < this.published);
				void this.client.invalidateQueries({ ...mine, predicate: isOld });
			}
		}
		if (this.old.size > 0) {
			this.plan();
		}
	}
}

/** resetKinds returns the kinds whose notices the server dropped; all kinds if the reset names none. */
export function resetKinds(notice: Notice): readonly string[] {
	const { kinds } = notice.data;
	return Array.isArray(kinds) ? kinds.filter((kind) => typeof kind === 'string') : Object.keys(invalidatedBy);
}

/** again is the delay before a rejected stream is opened again, in milliseconds. */
const again = 10_000;

/** connectLiveStream opens the SSE stream. The returned function closes it. */
export function connectLiveStream(): () => void {
	const refresher = new Refresher(queries);
	let source: EventSource;
	let timer: ReturnType<typeof setTimeout> | undefined;
	const publish = (notice: Notice) => {
		for (const listener of listeners) {
			listener(notice);
		}
		refresher.add(notice);
	};
	const open = (fresh: boolean) => {
		source = new EventSource('/dashboard/v1/live');
		source.onopen = () => {
			isConnected.value = true;
			if (isLost.value) {
				isLost.value = false;
				// Failed queries of kinds without notices would keep their error until a reload of the page.
				void queries.invalidateQueries({ predicate: (query) => query.state.status === 'error' });
			}
			if (fresh) {
				// Notices may have been missed while the stream was closed.
				publish({ kind: 'reset', data: {} });
			}
		};
		source.onerror = () => {
			isConnected.value = false;
			isLost.value = true;
			// The browser reconnects by itself after a connection breaks, but not after an error status.
			if (source.readyState === EventSource.CLOSED) {
				clearTimeout(timer);
				timer = setTimeout(() => open(true), again);
			}
		};
		for (const kind of [...Object.keys(invalidatedBy), 'reset']) {
			source.addEventListener(kind, (message: MessageEvent<string>) =>
				publish({ kind, data: JSON.parse(message.data) as Record<string, unknown> }),
			);
		}
	};
	open(false);
	return () => {
		clearTimeout(timer);
		refresher.stop();
		source.close();
		isConnected.value = false;
		isLost.value = false;
	};
}
