import { useQuery } from '@tanstack/preact-query';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Problem } from '../api/client';
import { followsItself, onNotice } from '../api/live';
import { queries } from '../api/queries';
import { deliveries } from './calls';
import { concerns, extend, type Feed, merge, patch, type Told, tell, told, type Wanted } from './feed';

/** Gathered runs something a while after it was asked for, and not again within some time. */
export class Gathered {
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
		const gathered = new Gathered(() => now.current.run(), 300, every);
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

/** Seen is which rows of a list are on the screen. */
export interface Seen {
	first: number;
	last: number;
}

/** Deliveries is a list of them that follows the live stream. */
export interface Deliveries {
	feed: Feed | undefined;
	error: Error | null;
	refetch: () => void;
	/** unseen is how many new ones wait until the list is scrolled to its beginning. */
	unseen: number;
	more: { busy: boolean; problem: Problem | undefined; load: () => void };
}

/**
 * useDeliveries fetches a list of deliveries, and follows them: what a notice says is
 * written into the row that is there, and at most once a second one page is fetched, of
 * the rows that are on the screen and have changed.
 */
export function useDeliveries(wanted: Wanted, live: boolean, seen: { current: Seen }): Deliveries {
	const name = JSON.stringify(wanted);
	const list = useMemo(() => ({ wanted: JSON.parse(name) as Wanted, key: ['deliveries', 'list', name] }), [name]);
	const query = useQuery({
		queryKey: list.key,
		meta: followsItself,
		structuralSharing: false,
		refetchOnWindowFocus: live,
		queryFn: async ({ signal }) => {
			const page = await deliveries(list.wanted, {}, signal);
			return merge(queries.getQueryData<Feed>(list.key), page, list.wanted);
		},
	});
	const [unseen, setUnseen] = useState(0);
	useEffect(() => {
		setUnseen(0);
		if (!live) {
			return;
		}
		const follower = new Follower(list.wanted, list.key, seen, setUnseen);
		return () => follower.stop();
	}, [list, live, seen]);

	const [more, setMore] = useState<{ busy: boolean; problem: Problem | undefined }>({ busy: false, problem: undefined });
	const busy = useRef(false);
	const load = useCallback(() => {
		const next = queries.getQueryData<Feed>(list.key)?.next;
		if (busy.current || !next) {
			return;
		}
		busy.current = true;
		setMore({ busy: true, problem: undefined });
		deliveries(list.wanted, { cursor: next })
			.then((page) => queries.setQueryData<Feed>(list.key, (old) => (old?.next === next ? extend(old, page) : old)))
			.then(
				() => setMore({ busy: false, problem: undefined }),
				(error: unknown) => setMore({ busy: false, problem: error instanceof Problem ? error : new Problem(0, undefined) }),
			)
			.finally(() => {
				busy.current = false;
			});
	}, [list]);
	const refetch = useCallback(() => void queries.refetchQueries({ queryKey: list.key, exact: true }), [list]);
	return { feed: query.data, error: query.error, refetch, unseen, more: { ...more, load } };
}

/** Follower keeps one list fresh. */
class Follower {
	private readonly news = new Map<string, Told>();
	private readonly stale = new Set<string>();
	private readonly fresh = new Set<string>();
	private readonly gathered = new Gathered(() => void this.look(), 300, 1000);
	private readonly unlisten: () => void;
	private all = false;

	constructor(
		private readonly wanted: Wanted,
		private readonly key: readonly unknown[],
		private readonly seen: { current: Seen },
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

	stop(): void {
		this.unlisten();
		this.gathered.stop();
	}

	private async look(): Promise<void> {
		const feed = queries.getQueryData<Feed>(this.key);
		if (!feed) {
			return;
		}
		const { feed: after, known } = tell(feed, this.news);
		if (after !== feed) {
			queries.setQueryData(this.key, after);
		}
		for (const one of this.news.values()) {
			if (known.has(one.id)) {
				this.stale.add(one.id);
			} else if (concerns(one, this.wanted)) {
				this.fresh.add(one.id);
			}
		}
		this.news.clear();
		try {
			await this.fetch(after);
		} catch {
			// The next notice, or the next look at the page, asks again.
		}
	}

	private async fetch(feed: Feed): Promise<void> {
		const { first, last } = this.seen.current;
		if (first <= 0 && (this.all || this.fresh.size > 0)) {
			this.all = false;
			this.fresh.clear();
			this.unseen(0);
			await queries.refetchQueries({ queryKey: this.key, exact: true });
		} else {
			this.unseen(this.fresh.size);
		}
		const shown = (queries.getQueryData<Feed>(this.key) ?? feed).rows.slice(Math.max(0, first), last + 1);
		const [newest, oldest] = [shown[0], shown.at(-1)];
		if (!newest || !oldest || !(this.all || shown.some((row) => this.stale.has(row.id)))) {
			return;
		}
		// The API writes milliseconds, and keeps more: the range ends one later.
		const to = new Date(new Date(newest.created_at).getTime() + 1).toISOString();
		const { webhook, event } = this.wanted;
		const page = await deliveries({ webhook, event, from: oldest.created_at, to });
		for (const row of page.data) {
			this.stale.delete(row.id);
		}
		queries.setQueryData<Feed>(this.key, (old) => old && patch(old, page.data));
	}
}
