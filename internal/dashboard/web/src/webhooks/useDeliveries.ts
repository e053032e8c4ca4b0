import { useQuery } from '@tanstack/preact-query';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type Problem, problemOf } from '../api/client';
import { liveQuery, onNotice } from '../api/liveStream';
import { queries } from '../api/queries';
import { concerns, extend, type Feed, merge, patch, type Told, tell, told, type Wanted } from './deliveryFeed';
import { deliveries } from './queries';

/** CollectedNotices runs something a while after it was asked for, and not again within some time. */
export class CollectedNotices {
	private timer: ReturnType<typeof setTimeout> | undefined;
	private last = Number.NEGATIVE_INFINITY;

	/** soon and every are milliseconds: of the first wait, and between two runs. */
	constructor(
		private readonly run: () => void,
		private readonly soon: number,
		private readonly every: number,
	) {}

	/** ask has it run, if that is not planned already. */
	ask(): void {
		this.timer ??= setTimeout(
			() => {
				this.timer = undefined;
				this.last = Date.now();
				this.run();
			},
			Math.max(this.soon, this.last + this.every - Date.now()),
		);
	}

	/** stop forgets what is planned. */
	stop(): void {
		clearTimeout(this.timer);
		this.timer = undefined;
	}
}

/** useDeliveryNotices calls a function when a delivery that matters has changed, at most as often as given. */
export function useDeliveryNotices(matters: (one: Told) => boolean, every: number, run: () => void): void {
	const now = useRef({ matters, run });
	now.current = { matters, run };
	useEffect(() => {
		const gathered = new CollectedNotices(() => now.current.run(), 300, every);
		const stop = onNotice((notice) => {
			const one = told(notice);
			if (notice.kind === 'reset' || (one && now.current.matters(one))) {
				gathered.ask();
			}
		});
		return () => {
			stop();
			gathered.stop();
		};
	}, [every]);
}

/** DeliveryView is which rows of a list are on the screen. */
export interface DeliveryView {
	first: number;
	last: number;
}

/** Deliveries is a list of them that follows the live stream. */
export interface Deliveries {
	feed: Feed | undefined;
	error: Error | null;
	refetch: () => void;
	/** look is called when other rows have come to the screen: they may be old, or new ones wait at the beginning. */
	look: () => void;
	/** unseen is how many new ones wait until the list is scrolled to its beginning. */
	unseen: number;
	more: { busy: boolean; problem: Problem | undefined; load: () => void };
}

type More = Pick<Deliveries['more'], 'busy' | 'problem'>;

const idle: More = { busy: false, problem: undefined };

/**
 * useDeliveries fetches a list of deliveries, and follows them: what a notice says is
 * written into the row that is there, and at most once a second one page is fetched, of
 * the rows that are on the screen and have changed.
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
			const asked = [...list.missing];
			const page = await deliveries(list.wanted, {}, signal);
			// Whoever looks at the beginning loses nothing when rows far below it are fetched again.
			const feed = merge(queries.getQueryData<Feed>(list.key), page, list.wanted, seen.current.first <= 0 ? asked : []);
			if (seen.current.first <= 0) {
				for (const id of asked) {
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
	const look = useCallback(() => follower.current?.ask(), []);

	const [more, setMore] = useState(idle);
	const loading = useRef<unknown>(undefined);
	const load = useCallback(() => {
		const next = queries.getQueryData<Feed>(list.key)?.next;
		if (loading.current === list || !next) {
			return;
		}
		loading.current = list;
		// The answer for a list that has been left is of no use to the one that is shown.
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
	private readonly news = new Map<string, Told>();
	private readonly stale = new Set<string>();
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
			const one = told(notice);
			if (one) {
				this.news.set(one.id, one);
				this.gathered.ask();
			} else if (notice.kind === 'reset') {
				this.all = true;
				this.gathered.ask();
			}
		});
	}

	/** ask has it look soon. */
	ask(): void {
		this.gathered.ask();
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
			// An answer that comes late must not be written over one that came after it.
			this.gathered.ask();
			return;
		}
		if (this.news.size > 0) {
			this.hear(feed);
		}
		this.looking = true;
		try {
			await this.fetch();
		} catch {
			// The next notice, or the next look at the page, asks again.
		} finally {
			this.looking = false;
		}
	}

	/** hear writes what notices say into the rows that are there. */
	private hear(feed: Feed): void {
		const { feed: after, known } = tell(feed, this.news);
		if (after !== feed) {
			queries.setQueryData(this.list.key, after);
		}
		for (const one of this.news.values()) {
			if (known.has(one.id)) {
				this.stale.add(one.id);
			} else if (concerns(one, this.list.wanted)) {
				this.list.missing.add(one.id);
			}
		}
		this.news.clear();
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
		// The API writes milliseconds, and keeps more: the range ends one later.
		const to = new Date(new Date(newest.created_at).getTime() + 1).toISOString();
		const { webhook, event } = wanted;
		const page = await deliveries({ webhook, event, from: oldest.created_at, to });
		for (const row of page.data) {
			this.stale.delete(row.id);
		}
		queries.setQueryData<Feed>(key, (old) => old && patch(old, page.data));
	}
}
