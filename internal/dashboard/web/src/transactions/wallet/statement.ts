import { api, type Schemas, unwrap } from '../../api/client';
import { withTotals } from '../keptTotals';

/** Entry is an entry of the wallet. */
export type Entry = Schemas['WalletEntry'];

/** Balance is the available and the reserved amount, in rupees. */
export interface Balance {
	available: number;
	held: number;
}

/** Line is a line of a statement: an entry with the balance after it; undefined if unknown. */
export interface Line {
	entry: Entry;
	after: Balance | undefined;
}

/** Selection is what a statement shows. With a subject it has no balances, because entries of others are left out. */
export interface Selection {
	subject?: string;
	from?: string;
	to?: string;
}

/** isSubject reports whether a text is the id of a recharge or a payment. */
export function isSubject(text: string): boolean {
	return /^(txn|pay)_[0-9A-Z]{26}$/.test(text);
}

/** subjectOf returns the id of the recharge or payment with an id or a reference; undefined if there is none. */
export async function subjectOf(text: string): Promise<string | undefined> {
	if (isSubject(text)) {
		return text;
	}
	const init = { params: { query: { ref_id: text, limit: 1 } } };
	const [recharges, payments] = await Promise.all([unwrap(api.GET('/v1/recharge', init)), unwrap(api.GET('/v1/wallet/topups', init))]);
	return recharges.data[0]?.transaction_id ?? payments.data[0]?.payment_id;
}

// Amounts have two decimals, which sums of floating-point numbers do not keep.
const paise = (amount: number) => Math.round(amount * 100) / 100;

/** before returns the balance before some entries, given the balance after them. */
export function before(after: Balance, entries: readonly Balance[]): Balance {
	return entries.reduce((left, { available, held }) => ({ available: paise(left.available - available), held: paise(left.held - held) }), {
		available: after.available,
		held: after.held,
	});
}

/** balanced adds the balance after each entry. Entries are newest first, and after is the balance after the newest. */
export function balanced(after: Balance | undefined, entries: readonly Entry[]): Line[] {
	let now = after;
	return entries.map((entry) => {
		const line = { entry, after: now };
		now = now && before(now, [entry]);
		return line;
	});
}

// A statement that ends earlier than this many entries ago has no balances.
const mostNewer = 5000;

/** newer fetches all entries since a time; undefined if they are too many. */
async function newer(since: string, signal: AbortSignal): Promise<Entry[] | undefined> {
	const found: Entry[] = [];
	let cursor: string | undefined;
	do {
		const query = { from: since, limit: 1000, ...(cursor && { cursor }) };
		const page = await unwrap(api.GET('/v1/wallet/entries', { params: { query }, signal }));
		found.push(...page.data);
		cursor = (page.has_more && page.next_cursor) || undefined;
	} while (cursor && found.length < mostNewer);
	return cursor ? undefined : found;
}

type Page = { data: Entry[]; has_more: boolean; next_cursor: string | null; totals?: Schemas['WalletTotals'] };

/** Totals are the number of entries of a statement, and the balance before the oldest one; undefined if unknown. */
export interface Totals {
	count: number;
	complete: boolean;
	opening: Balance | undefined;
}

/** Beginning is the first page of a statement. The balance at its end is undefined if unknown. */
export interface Beginning {
	page: Omit<Page, 'totals'>;
	closing: Balance | undefined;
	totals?: Totals;
}

/** entriesOf fetches one page of entries. */
export function entriesOf(
	selection: Selection,
	cursor: string | undefined,
	limit: number,
	signal: AbortSignal,
	totals = false,
): Promise<Page> {
	return unwrap(
		api.GET('/v1/wallet/entries', {
			params: { query: { ...selection, limit, ...(cursor && { cursor }), ...(totals && { totals }) } },
			signal,
		}),
	);
}

/**
 * beginningOf fetches the first page of a statement and the balance at its end. Sums of many entries are fetched once a
 * minute. New entries do not change the balance before the oldest one, so it is kept, and not the sums.
 */
export function beginningOf(selection: Selection, limit: number, signal: AbortSignal): Promise<Beginning> {
	return withTotals(['wallet', selection], (totals) => consistent(selection, limit, signal, totals));
}

/**
 * consistent fetches a first page whose figures agree. The balance of the wallet before and after must be equal;
 * otherwise an entry was added in between.
 */
async function consistent(selection: Selection, limit: number, signal: AbortSignal, withSums: boolean): Promise<Beginning> {
	for (let attempt = 1; ; attempt++) {
		const was = await unwrap(api.GET('/v1/wallet', { signal }));
		const later = selection.to && !selection.subject ? await newer(selection.to, signal) : [];
		const page = await entriesOf(selection, undefined, limit, signal, withSums);
		const is = await unwrap(api.GET('/v1/wallet', { signal }));
		const same = was.available === is.available && was.held === is.held;
		if (same || attempt === 3) {
			const closing = same && later && !selection.subject ? before(is, later) : undefined;
			const { totals, ...rest } = page;
			return { page: rest, closing, ...(totals && { totals: totalsOf(totals, closing) }) };
		}
	}
}

function totalsOf(sums: Schemas['WalletTotals'], closing: Balance | undefined): Totals {
	return { count: sums.count, complete: sums.complete, opening: closing && sums.complete ? before(closing, [sums]) : undefined };
}

/** csvOf returns lines as a table for a spreadsheet, the newest first. Unknown balances are empty. */
export function csvOf(lines: readonly Line[]): string {
	const head = ['at', 'kind', 'subject', 'available', 'held', 'available_after', 'held_after'];
	const rows = lines.map(({ entry, after }) =>
		[entry.at, entry.kind, entry.subject, entry.available, entry.held, after?.available ?? '', after?.held ?? ''].join(','),
	);
	return [head.join(','), ...rows, ''].join('\r\n');
}
