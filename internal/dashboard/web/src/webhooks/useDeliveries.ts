import { useQuery } from '@tanstack/preact-query';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type Problem, problemOf } from '../api/client';
import { liveQuery, onNotice } from '../api/liveStream';
import { queries } from '../api/queries';
import { applyNotices, concerns, type DeliveryNotice, extend, type Feed, merge, parseNotice, patch, type Wanted } from './deliveryFeed';
import { deliveries } from './queries';

/** CollectedNotices runs a function a short time after a request for it, at a limited rate. */
export class CollectedNotices {
	private timer: ReturnType<typeof setTimeout> | undefined;
	private last = Number.NEGATIVE_INFINITY;

	/** soon is the delay of a run, and every the minimum time between two runs, in milliseconds. */
	constructor(
		private readonly run: () => void,
		private readonly soon: number,
		private readonly every: number,
	) {}

	/** schedule schedules a run if none is scheduled. */
	schedule(): void {
		this.timer ??= setTimeout(
			() => {
				this.timer = undefined;
				this.last = Date.now();
				this.run();
			},
			Math.max(this.soon, this.last + this.every - Date.now()),
		);
	}

	/** stop cancels the scheduled run. */
	stop(): void {
		clearTimeout(this.timer);
		this.timer = undefined;
	}
}

/**
 * useDeliveryNotices calls run after notices about deliveries for which matters is true, at most once in every
 * milliseconds.
 */
export function useDeliveryNotices(matters: (one: DeliveryNotice) => boolean, every: number, run: () => void): void {
	const now = useRef({ matters, run });
	now.current = { matters, run };
	useEffect(() => {
		const gathered = new CollectedNotices(() => now.current.run(), 300, every);
		const stop = onNotice((notice) => {
			const one = parseNotice(notice);
			if (notice.kind === 'reset' || (one && now.current.matters(one))) {
				gathered.schedule();
			}
		});
		return () => {
			stop();
			gathered.stop();
		};
	}, [every]);
}

/** DeliveryView is the range of visible rows. */
export interface DeliveryView {
	first: number;
	last: number;
}

/** Deliveries is a list of deliveries that follows the SSE stream. */
export interface Deliveries {
	feed: Feed | undefined;
	error: Error | null;
	refetch: () => void;
	/** look is called after scrolling, because newly visible rows can be stale and new rows can wait at the start. */
	look: () => void;
	/** unseen is the number of new rows that wait until the user scrolls to the start. */
	unseen: number;
	more: { busy: boolean; problem: Problem | undefined; load: () => void };
}

type More = Pick<Deliveries['more'], 'busy' | 'problem'>;

/** mostRows is the number of rows that a list keeps while the user looks at its start. */
const mostRows = 1000;

const idle: More = { busy: false, problem: undefined };

/**
 * useDeliveries fetches a list of deliveries and keeps it fresh. Notices update known rows at once. At most once
 * a second it refetches one page, if one of the visible rows has changed.
 */
export function useDeliveries(wanted: Wanted, live: boolean, seen: { current: DeliveryView }): Deliveries {
	const name = JSON.stringify(wanted);
	const list = useMemo(
		() => ({ wanted: JSON.parse(name) as Wanted, key: ['deliveries', 'list', name], missing: new Set<string>() }),
		[name],
	);
	const query = useQuery({
		queryKey: list.key,
		...liveQuery,
		structuralSharing: false,
		refetchOnWindowFocus: live,
		queryFn: async ({ signal }) => {
			const refetched = [...list.missing];
			const page = await deliveries(list.wanted, {}, signal);
			// Missing rows may drop rows far below, which is harmless only while the user looks at the start of the
			// list.
			const atStart = seen.current.first <= 0;
			const old = queries.getQueryData<Feed>(list.key);
			const feed = merge(old, page, list.wanted, atStart ? refetched : [], atStart ? mostRows : Number.POSITIVE_INFINITY);
			if (atStart) {
				for (const id of refetched) {
					list.missing.delete(id);
				}
			}
			return feed;
		},
	});
	const [unseen, setUnseen] = useState(0);
	const follower = useRef<Follower>();
	useEffect(() => {
		setUnseen(0);
		if (!live) {
			return;
		}
		const one = new Follower(list, seen, setUnseen);
		follower.current = one;
		return () => {
			follower.current = undefined;
			one.stop();
		};
	}, [list, live, seen]);
	const look = useCallback(() => follower.current?.schedule(), []);

	const [more, setMore] = useState(idle);
	const loading = useRef<unknown>(undefined);
	const load = useCallback(() => {
		const next = queries.getQueryData<Feed>(list.key)?.next;
		if (loading.current === list || !next) {
			return;
		}
		loading.current = list;
		// Ignore the reply if the user has switched to another list.
		const over = (came: More) => {
			if (loading.current === list) {
				loading.current = undefined;
				setMore(came);
			}
		};
		setMore({ busy: true, problem: undefined });
		deliveries(list.wanted, { cursor: next })
			.then((page) => queries.setQueryData<Feed>(list.key, (old) => (old?.next === next ? extend(old, page) : old)))
			.then(
				() => over(idle),
				(error: unknown) => over({ busy: false, problem: problemOf(error) }),
			);
	}, [list]);
	useEffect(
		() => () => {
			loading.current = undefined;
			setMore(idle);
		},
		[list],
	);
	const refetch = useCallback(() => void queries.refetchQueries({ queryKey: list.key, exact: true }), [list]);
	return { feed: query.data, error: query.error, refetch, look, unseen, more: { ...more, load } };
}

/** Follower keeps one list fresh. */
class Follower {
	private readonly notices = new Map<string, DeliveryNotice>();
	/** stale has the rows that notices have changed, with their attempts, until they are refetched. */
	private readonly stale = new Map<string, number>();
	private readonly gathered = new CollectedNotices(() => void this.look(), 300, 1000);
	private readonly unlisten: () => void;
	private all = false;
	private looking = false;
	private stopped = false;

	constructor(
		private readonly list: { wanted: Wanted; key: readonly unknown[]; missing: Set<string> },
		private readonly seen: { current: DeliveryView },
		private readonly unseen: (count: number) => void,
	) {
		this.unlisten = onNotice((notice) => {
			const one = parseNotice(notice);
			if (one) {
				this.notices.set(one.id, one);
				this.gathered.schedule();
			} else if (notice.kind === 'reset') {
				this.all = true;
				this.gathered.schedule();
			}
		});
	}

	/** schedule schedules a refresh. */
	schedule(): void {
		this.gathered.schedule();
	}

	stop(): void {
		this.stopped = true;
		this.unlisten();
		this.gathered.stop();
	}

	private async look(): Promise<void> {
		const feed = queries.getQueryData<Feed>(this.list.key);
		if (!feed) {
			return;
		}
		if (this.looking) {
			// A late reply must not overwrite a newer one, so only one fetch runs at a time.
			this.gathered.schedule();
			return;
		}
		if (this.notices.size > 0) {
			this.hear(feed);
		}
		this.looking = true;
		try {
			await this.fetch();
		} catch {
			// The next notice or scroll retries.
		} finally {
			this.looking = false;
		}
	}

	/** hear applies the collected notices to the rows. */
	private hear(feed: Feed): void {
		const { feed: after, known } = applyNotices(feed, this.notices, this.stale);
		if (after !== feed) {
			queries.setQueryData(this.list.key, after);
		}
		for (const one of this.notices.values()) {
			const attempts = known.get(one.id);
			if (attempts !== undefined) {
				this.stale.set(one.id, attempts);
			} else if (concerns(one, this.list.wanted)) {
				this.list.missing.add(one.id);
			}
		}
		this.notices.clear();
		const rows = new Set(after.rows.map((row) => row.id));
		for (const id of this.stale.keys()) {
			if (!rows.has(id)) {
				this.stale.delete(id);
			}
		}
	}

	private async fetch(): Promise<void> {
		const { key, missing, wanted } = this.list;
		if (this.seen.current.first <= 0 && (this.all || missing.size > 0)) {
			this.all = false;
			await queries.refetchQueries({ queryKey: key, exact: true });
		}
		if (this.stopped) {
			return;
		}
		this.unseen(missing.size);
		const { first, last } = this.seen.current;
		const shown = (queries.getQueryData<Feed>(key)?.rows ?? []).slice(Math.max(0, first), last + 1);
		const [newest, oldest] = [shown[0], shown.at(-1)];
		if (!newest || !oldest || !(this.all || shown.some((row) => this.stale.has(row.id)))) {
			return;
		}
		// The API returns milliseconds, but stores microseconds. One millisecond more includes the newest row.
		const to = new Date(new Date(newest.created_at).getTime() + 1).toISOString();
		const { webhook, event } = wanted;
		const page = await deliveries({ webhook, event, from: oldest.created_at, to });
		for (const row of page.data) {
			this.stale.delete(row.id);
		}
		queries.setQueryData<Feed>(key, (old) => old && patch(old, page.data));
	}
}
