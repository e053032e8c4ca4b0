import { sessionState } from '../session';

// The store adds up many rows in a tenth of a second or more. A live list fetches its first page up to once a second.
const many = 5000;
const lifetime = 60_000;

// A page shows few lists at once. Totals of lists with older filters are dropped.
const most = 8;

const kept = new Map<string, { until: number; totals: unknown }>();

/**
 * withTotals fetches the first page of a list with its totals. Totals of many rows are fetched once a minute, and
 * shown again until then. The totals of the newest lists are kept.
 */
export async function withTotals<T extends { count: number }, P extends { totals?: T }>(
	list: readonly unknown[],
	load: (totals: boolean) => Promise<P>,
): Promise<P> {
	const session = sessionState.value;
	const name = JSON.stringify([session.at === 'in' && session.current.key.id, ...list]);
	const old = kept.get(name);
	if (old && old.until > Date.now()) {
		return { ...(await load(false)), totals: old.totals as T };
	}
	kept.delete(name);
	const page = await load(true);
	if (page.totals && page.totals.count > many) {
		kept.set(name, { until: Date.now() + lifetime, totals: page.totals });
		for (const oldest of [...kept.keys()].slice(0, -most)) {
			kept.delete(oldest);
		}
	}
	return page;
}
