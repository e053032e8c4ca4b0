import { expect, test } from 'vitest';
import { applyNotices, concerns, extend, type Feed, fits, merge, parseNotice, patch, type Row } from './deliveryFeed';

/** row returns a delivery whose id sorts by n. */
function row(n: number, more: Partial<Row> = {}): Row {
	return {
		id: `dlv_${String(n).padStart(26, '0')}`,
		webhook_id: 'wh_1',
		event_id: 'evt_1',
		event_type: 'recharge.failed',
		state: 'waiting',
		attempts_made: 1,
		created_at: '2026-11-21T03:37:37.647Z',
		next_attempt_at: '2026-11-21T03:37:47.647Z',
		finished_at: null,
		retry_of: null,
		retried_as: null,
		last_attempt: null,
		...more,
	} as Row;
}

const page = (rows: Row[], next: string | null) => ({ data: rows, has_more: next !== null, next_cursor: next });
const ids = (feed: Feed) => feed.rows.map((row) => Number(row.id.slice(4)));

test('a new page replaces the rows that it covers, and older rows stay', () => {
	const old: Feed = { rows: [row(5), row(4), row(3), row(2), row(1)], next: 'older' };
	const feed = merge(old, page([row(6), row(5), row(4)], 'x'), {});
	expect(ids(feed)).toEqual([6, 5, 4, 3, 2, 1]);
	expect(feed.next).toBe('older');
	expect(feed.rows[1]).toBe(old.rows[0]);
});

test('older rows are dropped if the new page leaves a gap before them', () => {
	const feed = merge({ rows: [row(2), row(1)], next: null }, page([row(9), row(8)], 'x'), {});
	expect(ids(feed)).toEqual([9, 8]);
	expect(feed.next).toBe('x');
});

test('a page without a next page replaces the list', () => {
	expect(ids(merge({ rows: [row(2), row(1)], next: null }, page([row(3)], null), {}))).toEqual([3]);
	expect(merge(undefined, page([], 'x'), {})).toEqual({ rows: [], next: 'x' });
});

test('a row that the new page lacks is removed, and so is one that no longer matches the filter', () => {
	const old: Feed = { rows: [row(5), row(4), row(3), row(2, { state: 'delivered' }), row(1)], next: null };
	expect(ids(merge(old, page([row(5), row(3)], 'x'), { state: 'waiting' }))).toEqual([5, 3, 1]);
});

test('an old row that now matches the filter drops the rows around it for a refetch', () => {
	const old: Feed = { rows: [row(9), row(8), row(3), row(2)], next: 'older' };
	const first = page([row(9), row(8)], 'x');
	expect(merge(old, first, {}, [row(5).id])).toEqual({ rows: [row(9), row(8)], next: 'x' });
	// Newer rows are in the page, and older ones are fetched with their own page.
	expect(ids(merge(old, first, {}, [row(10).id, row(1).id]))).toEqual([9, 8, 3, 2]);
	expect(ids(merge({ ...old, next: null }, first, {}, [row(1).id]))).toEqual([9, 8]);
});

test('a list that stays open keeps a limited number of rows', () => {
	let feed: Feed = { rows: [row(2), row(1)], next: null };
	for (let n = 3; n < 500; n++) {
		feed = merge(feed, page([row(n), row(n - 1)], `after ${n - 1}`), {}, [], 100);
		expect(feed.rows.length).toBeLessThanOrEqual(100);
		expect(ids(feed)[0]).toBe(n);
	}
	expect(feed.next).toBe(`after ${ids(feed).at(-1)}`);
});

test('a next page is appended without duplicates', () => {
	const feed = extend({ rows: [row(3), row(2)], next: 'x' }, page([row(2), row(1)], null));
	expect(ids(feed)).toEqual([3, 2, 1]);
	expect(feed.next).toBeNull();
});

test('refetched rows replace the old ones', () => {
	const old: Feed = { rows: [row(2), row(1)], next: null };
	const feed = patch(old, [row(1, { state: 'failed' }), row(7)]);
	expect(feed.rows[0]).toBe(old.rows[0]);
	expect(feed.rows[1]?.state).toBe('failed');
	expect(ids(feed)).toEqual([2, 1]);
});

test('a notice updates its row, and an outdated notice does not', () => {
	const old: Feed = { rows: [row(2), row(1, { attempts_made: 3 })], next: null };
	const news = (n: number, attempts: number, state: Row['state'] = 'delivered') => {
		const one = parseNotice({
			kind: 'delivery',
			data: { id: row(n).id, webhook_id: 'wh_1', event_id: 'evt_1', state, attempts },
		});
		return one ? ([[one.id, one]] as const) : [];
	};
	const { feed, known } = applyNotices(old, new Map([...news(2, 2), ...news(1, 2), ...news(9, 1)]), new Map());
	expect(feed.rows[0]).toMatchObject({ state: 'delivered', next_attempt_at: null });
	// The number of attempts stays that of the result which the row shows.
	expect(feed.rows[0]?.attempts_made).toBe(1);
	expect(feed.rows[1]).toBe(old.rows[1]);
	expect([...known]).toEqual([
		[row(2).id, 2],
		[row(1).id, 3],
	]);
	// A late notice of an attempt before the applied one.
	expect(applyNotices(feed, new Map(news(2, 1, 'waiting')), known).feed.rows[0]).toBe(feed.rows[0]);
	expect(applyNotices(feed, new Map(news(2, 2, 'cancelled')), known).feed.rows[0]).toMatchObject({ state: 'cancelled' });
});

test('invalid notices are ignored', () => {
	expect(parseNotice({ kind: 'event', data: {} })).toBeUndefined();
	expect(
		parseNotice({ kind: 'delivery', data: { id: 'dlv_1', webhook_id: 'wh_1', event_id: 'evt_1', state: '<b>', attempts: 1 } }),
	).toBeUndefined();
});

test('a list filters rows and notices', () => {
	expect(fits(row(1), { state: 'failed' })).toBe(false);
	expect(fits(row(1, { retried_as: 'dlv_2' }), { retried: 'false' })).toBe(false);
	expect(fits(row(1), { retried: 'false' })).toBe(true);
	expect(fits(row(1, { event_type: 'payment.failed' }), { type: 'payment.failed' })).toBe(true);
	expect(fits(row(1, { event_type: 'payment.failed' }), { type: 'recharge.completed' })).toBe(false);
	const last = { attempt: 1, at: '', duration_ms: 1, stage: 'status', http_status: 503, error: '' } as const;
	expect(fits(row(1, { last_attempt: last }), { answer: '5xx' })).toBe(true);
	expect(fits(row(1, { last_attempt: last }), { answer: 'none' })).toBe(false);
	expect(fits(row(1, { last_attempt: { ...last, http_status: null } }), { answer: 'none' })).toBe(true);
	expect(fits(row(1), { answer: 'none' })).toBe(false);
	const one = { id: 'dlv_1', webhook: 'wh_1', event: 'evt_1', state: 'waiting', attempts: 0 } as const;
	expect(concerns(one, { webhook: 'wh_2' })).toBe(false);
	expect(concerns(one, { webhook: 'wh_1', event: 'evt_1', state: 'waiting' })).toBe(true);
});
