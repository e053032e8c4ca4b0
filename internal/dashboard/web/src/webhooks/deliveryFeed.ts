import type { Schemas } from '../api/client';
import type { Notice } from '../api/liveStream';
import type { ListState } from '../ui/List';

/** Row is a delivery in a list. */
export type Row = Schemas['Delivery'];

/** Wanted is which deliveries a list shows. */
export interface Wanted {
	state?: Row['state'] | undefined;
	retried?: 'true' | 'false' | undefined;
	webhook?: string | undefined;
	event?: string | undefined;
	from?: string | undefined;
	to?: string | undefined;
}

/** Feed is what was fetched of a list of deliveries, the newest first, without a gap. */
export interface Feed {
	rows: readonly Row[];
	/** next is the cursor of what follows; null at the end. */
	next: string | null;
}

/** Told is what a notice says of a delivery. */
export interface Told {
	id: string;
	webhook: string;
	event: string;
	state: Row['state'];
	attempts: number;
}

const states: readonly string[] = ['waiting', 'delivered', 'failed', 'cancelled'] satisfies Row['state'][];

/** told reads a notice; undefined when it is not about a delivery. */
export function told(notice: Notice): Told | undefined {
	const { id, webhook_id: webhook, event_id: event, state, attempts } = notice.data;
	if (notice.kind !== 'delivery' || typeof id !== 'string' || typeof webhook !== 'string' || typeof event !== 'string') {
		return undefined;
	}
	if (typeof attempts !== 'number' || typeof state !== 'string' || !states.includes(state)) {
		return undefined;
	}
	return { id, webhook, event, state: state as Row['state'], attempts };
}

/** fits says whether a delivery still belongs to a list, as far as that can change. */
export function fits(row: Row, wanted: Wanted): boolean {
	return (!wanted.state || row.state === wanted.state) && (!wanted.retried || (row.retried_as !== null) === (wanted.retried === 'true'));
}

/** concerns says whether a delivery that is told of could be in a list. */
export function concerns(one: Told, wanted: Wanted): boolean {
	return (
		(!wanted.webhook || one.webhook === wanted.webhook) &&
		(!wanted.event || one.event === wanted.event) &&
		(!wanted.state || one.state === wanted.state)
	);
}

/** same keeps the object that is there when nothing has changed, so that its row is not drawn again. */
function same(old: Row | undefined, fresh: Row): Row {
	return old && JSON.stringify(old) === JSON.stringify(fresh) ? old : fresh;
}

/**
 * merge lays the newest page over what is there. Rows that are older than the page
 * stay, so that nobody who has scrolled down loses them; when there may be others
 * between the two, they go. So they do when one that is missing belongs among them: it
 * comes with the pages that are fetched again.
 */
export function merge(old: Feed | undefined, page: ListState<Row>, wanted: Wanted, missing: Iterable<string> = []): Feed {
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
	if ([...missing].some((id) => id < oldest && id > last)) {
		return { rows: page.data.map((row) => same(known.get(row.id), row)), next: page.next_cursor };
	}
	const older = old.rows.filter((row) => row.id < oldest && fits(row, wanted));
	return {
		rows: [...page.data.map((row) => same(known.get(row.id), row)), ...older],
		next: older.length > 0 ? old.next : page.next_cursor,
	};
}

/** extend adds the page that follows. */
export function extend(old: Feed, page: ListState<Row>): Feed {
	const oldest = old.rows.at(-1)?.id;
	const more = page.data.filter((row) => oldest === undefined || row.id < oldest);
	return { rows: [...old.rows, ...more], next: page.next_cursor };
}

/** patch puts rows that were fetched anew in the place of the old ones. */
export function patch(old: Feed, fresh: readonly Row[]): Feed {
	const by = new Map(fresh.map((row) => [row.id, row]));
	return { rows: old.rows.map((row) => same(row, by.get(row.id) ?? row)), next: old.next };
}

/** tell brings what notices say into the rows that are there; known says which were. */
export function tell(old: Feed, all: ReadonlyMap<string, Told>): { feed: Feed; known: Set<string> } {
	const known = new Set<string>();
	const rows = old.rows.map((row) => {
		const one = all.get(row.id);
		if (!one) {
			return row;
		}
		known.add(row.id);
		if (one.attempts < row.attempts_made || (one.attempts === row.attempts_made && one.state === row.state)) {
			return row;
		}
		return { ...row, state: one.state, attempts_made: one.attempts, next_attempt_at: null };
	});
	return { feed: known.size > 0 ? { rows, next: old.next } : old, known };
}
