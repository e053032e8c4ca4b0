import { signal } from '@preact/signals';
import type { Query, QueryClient } from '@tanstack/preact-query';
import { queries } from './queries';

/** Notice is what the live stream tells: what kind of thing has changed, and which. */
export interface Notice {
	kind: string;
	data: Record<string, unknown>;
}

/** isConnected says whether the stream is there; while it is not, lists may be old. */
export const isConnected = signal(false);

type Listener = (notice: Notice) => void;
const listeners = new Set<Listener>();

/** onNotice calls a function with every notice until what it returns is called. */
export function onNotice(listener: Listener): () => void {
	listeners.add(listener);
	return () => listeners.delete(listener);
}

/** What a kind of notice makes old: first parts of the keys of queries. */
const invalidatedBy: Record<string, readonly string[]> = {
	air: ['air'],
	batch: ['batches'],
	delivery: ['deliveries', 'health'],
	event: ['events', 'recharges', 'verifications', 'wallet', 'audit'],
};

/**
 * liveQuery are the options of a query that listens to notices on its own, because it
 * can tell what of it has changed: notices do not make it old. While it is not shown it
 * hears none, so it is fetched whenever it comes to be: with a page, or by another filter.
 */
export const liveQuery = { meta: { live: 'self' }, staleTime: 0 } as const;

/** pause is how long notices are gathered before what they make old is fetched again. */
const pause = 400;

/**
 * atMost is how long to wait before the next time. While hundreds of notices come each
 * second, a list is fetched once a second, and one that takes longer is waited for.
 */
const atMost = 1000;

/** Refresher fetches again what notices have made old, now and then. */
export class Refresher {
	private readonly old = new Set<string>();
	private timer: ReturnType<typeof setTimeout> | undefined;
	private last = Number.NEGATIVE_INFINITY;

	constructor(private readonly client: QueryClient) {}

	/** add takes a notice. */
	add(notice: Notice): void {
		const kinds = notice.kind === 'reset' ? resetKinds(notice) : [notice.kind];
		for (const kind of kinds) {
			for (const first of invalidatedBy[kind] ?? []) {
				this.old.add(first);
			}
		}
		if (this.old.size > 0) {
			this.plan();
		}
	}

	/** stop forgets what is old. */
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
				void this.client.invalidateQueries(mine);
			}
		}
		if (this.old.size > 0) {
			this.plan();
		}
	}
}

/** resetKinds are the kinds of which notices were left out. */
export function resetKinds(notice: Notice): readonly string[] {
	const { kinds } = notice.data;
	return Array.isArray(kinds) ? kinds.filter((kind) => typeof kind === 'string') : Object.keys(invalidatedBy);
}

/** again is how long to wait after the stream was refused, before it is asked for once more. */
const again = 10_000;

/** connectLiveStream listens to the stream until what it returns is called. */
export function connectLiveStream(): () => void {
	const refresher = new Refresher(queries);
	let source: EventSource;
	let timer: ReturnType<typeof setTimeout> | undefined;
	const tell = (notice: Notice) => {
		for (const listener of listeners) {
			listener(notice);
		}
		refresher.add(notice);
	};
	const open = (anew: boolean) => {
		source = new EventSource('/dashboard/v1/live');
		source.onopen = () => {
			isConnected.value = true;
			if (anew) {
				// What has changed meanwhile nobody has told.
				tell({ kind: 'reset', data: {} });
			}
		};
		source.onerror = () => {
			isConnected.value = false;
			// The browser comes again by itself when a connection breaks, and never when it was refused.
			if (source.readyState === EventSource.CLOSED) {
				clearTimeout(timer);
				timer = setTimeout(() => open(true), again);
			}
		};
		for (const kind of [...Object.keys(invalidatedBy), 'reset']) {
			source.addEventListener(kind, (message: MessageEvent<string>) =>
				tell({ kind, data: JSON.parse(message.data) as Record<string, unknown> }),
			);
		}
	};
	open(false);
	return () => {
		clearTimeout(timer);
		refresher.stop();
		source.close();
		isConnected.value = false;
	};
}
