import type { Schemas } from '../api/client';
import type { Notice } from '../api/liveStream';
import type { ListState } from '../ui/List';

/** Row is a delivery in a list. */
export type Row = Schemas['Delivery'];

/** answers are the classes of the status with which an endpoint answers; none if it does not answer. */
export const answers = ['2xx', '3xx', '4xx', '5xx', 'none'] as const;

/** Answer is one of answers. */
export type Answer = (typeof answers)[number];

/** Wanted is the filter of a list of deliveries. */
export interface Wanted {
	state?: Row['state'] | undefined;
	retried?: 'true' | 'false' | undefined;
	/** answer is the class of the newest attempt's status. A notice does not have it. */
	answer?: Answer | undefined;
	webhook?: string | undefined;
	event?: string | undefined;
	/** type is the type of the event. A notice does not have it. */
	type?: Schemas['EventType'] | undefined;
	from?: string | undefined;
	to?: string | undefined;
}

/** Feed is the fetched part of a list of deliveries, newest first and without gaps. */
export interface Feed {
	rows: readonly Row[];
	/** next is the cursor of the next page; null at the end. */
	next: string | null;
}

/** DeliveryNotice is the content of a notice about a delivery. */
export interface DeliveryNotice {
	id: string;
	webhook: string;
	event: string;
	state: Row['state'];
	attempts: number;
}

const states: readonly string[] = ['waiting', 'delivered', 'failed', 'cancelled'] satisfies Row['state'][];

/** parseNotice parses a notice; undefined if it is not about a delivery. */
export function parseNotice(notice: Notice): DeliveryNotice | undefined {
	const { id, webhook_id: webhook, event_id: event, state, attempts } = notice.data;
	if (notice.kind !== 'delivery' || typeof id !== 'string' || typeof webhook !== 'string' || typeof event !== 'string') {
		return undefined;
	}
	if (typeof attempts !== 'number' || typeof state !== 'string' || !states.includes(state)) {
		return undefined;
	}
	return { id, webhook, event, state: state as Row['state'], attempts };
}

/** answered reports whether the newest attempt of a delivery has an answer of a class. */
function answered(row: Row, answer: Answer): boolean {
	const { last_attempt: last } = row;
	return last !== null && (last.http_status === null ? 'none' : `${Math.floor(last.http_status / 100)}xx`) === answer;
}

/** fits reports whether a delivery matches the filters that a notice does not decide: state, type, answer and retried. */
export function fits(row: Row, wanted: Wanted): boolean {
	return (
		(!wanted.state || row.state === wanted.state) &&
		(!wanted.type || row.event_type === wanted.type) &&
		(!wanted.answer || answered(row, wanted.answer)) &&
		(!wanted.retried || (row.retried_as !== null) === (wanted.retried === 'true'))
	);
}

/** concerns reports whether the delivery of a notice can match a filter. */
export function concerns(one: DeliveryNotice, wanted: Wanted): boolean {
	return (
		(!wanted.webhook || one.webhook === wanted.webhook) &&
		(!wanted.event || one.event === wanted.event) &&
		(!wanted.state || one.state === wanted.state)
	);
}

/** same returns the old object if nothing has changed, so that its row is not drawn again. */
function same(old: Row | undefined, fresh: Row): Row {
	return old && JSON.stringify(old) === JSON.stringify(fresh) ? old : fresh;
}

/**
 * merge replaces the start of the list by its newest page. Older rows stay, so that a user who scrolled down
 * keeps them. If other rows can lie between the page and them, they are dropped. They are also dropped if an id
 * of missing belongs among them, because the refetched pages will contain it. The same holds if there are more than
 * most rows: a list that stays open would grow with every delivery.
 */
export function merge(
	old: Feed | undefined,
	page: ListState<Row>,
	wanted: Wanted,
	missing: Iterable<string> = [],
	most = Number.POSITIVE_INFINITY,
): Feed {
	if (!old || !page.has_more) {
		const known = new Map(old?.rows.map((row) => [row.id, row]));
		return { rows: page.data.map((row) => same(known.get(row.id), row)), next: page.next_cursor };
	}
	const oldest = page.data.at(-1)?.id;
	const newest = old.rows[0]?.id;
	if (oldest === undefined || newest === undefined || oldest > newest) {
		return { rows: page.data, next: page.next_cursor };
	}
	const known = new Map(old.rows.map((row) => [row.id, row]));
	const last = old.next === null ? '' : (old.rows.at(-1)?.id ?? '');
	const older = old.rows.filter((row) => row.id < oldest && fits(row, wanted));
	if (page.data.length + older.length > most || [...missing].some((id) => id < oldest && id > last)) {
		return { rows: page.data.map((row) => same(known.get(row.id), row)), next: page.next_cursor };
	}
	return {
		rows: [...page.data.map((row) => same(known.get(row.id), row)), ...older],
		next: older.length > 0 ? old.next : page.next_cursor,
	};
}

/** extend appends the next page. */
export function extend(old: Feed, page: ListState<Row>): Feed {
	const oldest = old.rows.at(-1)?.id;
	const more = page.data.filter((row) => oldest === undefined || row.id < oldest);
	return { rows: [...old.rows, ...more], next: page.next_cursor };
}

/** patch replaces rows by their refetched versions. */
export function patch(old: Feed, fresh: readonly Row[]): Feed {
	const by = new Map(fresh.map((row) => [row.id, row]));
	return { rows: old.rows.map((row) => same(row, by.get(row.id) ?? row)), next: old.next };
}

/**
 * applyNotices applies notices to the rows of a list. A row keeps the number of the attempts whose result it shows, until it
 * is refetched. applied has the attempts of notices that were applied before. known has the rows of all, and the greatest
 * number of attempts of each.
 */
export function applyNotices(
	old: Feed,
	all: ReadonlyMap<string, DeliveryNotice>,
	applied: ReadonlyMap<string, number>,
): { feed: Feed; known: Map<string, number> } {
	const known = new Map<string, number>();
	const rows = old.rows.map((row) => {
		const one = all.get(row.id);
		if (!one) {
			return row;
		}
		const attempts = Math.max(row.attempts_made, applied.get(row.id) ?? 0);
		known.set(row.id, Math.max(attempts, one.attempts));
		if (one.attempts < attempts || (one.attempts === attempts && one.state === row.state)) {
			return row;
		}
		return { ...row, state: one.state, next_attempt_at: null };
	});
	return { feed: known.size > 0 ? { rows, next: old.next } : old, known };
}
