import type { Schemas } from '../../api/client';

/** Step is a request to an operator or bank with its result. */
export type Step = { at: string; until: string; times: number; act: string; answer: string };

/** TimelineEvent is the part of an event that the timeline needs. */
export type TimelineEvent = { id: string; type: string; created: number };

/** Entry is one entry of the timeline. */
export type Entry =
	| { kind: 'step'; at: string; step: Step }
	| { kind: 'posting'; at: string; posting: Schemas['WalletEntry'] }
	| { kind: 'event'; at: string; event: TimelineEvent }
	| { kind: 'audit'; at: string; row: Schemas['AuditRow'] };

/** The order of entries within a millisecond: steps first, then postings, events and audit rows. */
const rank: Record<Entry['kind'], number> = { step: 0, posting: 1, event: 2, audit: 3 };

const base32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/**
 * madeAt returns the creation time of an id in milliseconds, from the first ten letters of its ULID. It is
 * undefined for ids of other kinds. An event has only a second, which would sort before or after all other
 * entries of that second.
 */
export function madeAt(id: string): number | undefined {
	const letters = /_([0-9A-HJKMNP-TV-Z]{10})[0-9A-HJKMNP-TV-Z]{16}$/.exec(id)?.[1];
	if (letters === undefined) {
		return undefined;
	}
	let time = 0;
	for (const letter of letters) {
		time = time * 32 + base32.indexOf(letter);
	}
	return time;
}

function eventAt(event: TimelineEvent): number {
	const second = event.created * 1000;
	const made = madeAt(event.id);
	// The id's time is used only if it is within the event's second.
	return made !== undefined && made >= second && made < second + 1000 ? made : second;
}

/** micros returns the microseconds of a time below its millisecond. */
function micros(at: string): number {
	return Number((/\.\d{3}(\d{1,3})/.exec(at)?.[1] ?? '').padEnd(3, '0'));
}

/** mergeTimeline merges all entries of a record in the order in which they happened. */
export function mergeTimeline(parts: {
	steps?: readonly Step[] | undefined;
	postings?: readonly Schemas['WalletEntry'][] | undefined;
	events?: readonly TimelineEvent[] | undefined;
	audit?: readonly Schemas['AuditRow'][] | undefined;
}): Entry[] {
	const entries: Entry[] = [
		...(parts.steps ?? []).map((step): Entry => ({ kind: 'step', at: step.at, step })),
		...[...(parts.postings ?? [])].reverse().map((posting): Entry => ({ kind: 'posting', at: posting.at, posting })),
		...(parts.events ?? []).map((event): Entry => ({ kind: 'event', at: new Date(eventAt(event)).toISOString(), event })),
		...[...(parts.audit ?? [])].sort((a, b) => a.seq - b.seq).map((row): Entry => ({ kind: 'audit', at: row.at, row })),
	];
	const keyed = entries.map((entry, index) => ({ entry, index, time: Date.parse(entry.at), below: micros(entry.at) }));
	keyed.sort(
		(a, b) =>
			a.time - b.time ||
			// Steps keep the order of the API, whatever their microseconds.
			(a.entry.kind === b.entry.kind ? (a.entry.kind === 'step' ? 0 : a.below - b.below) : rank[a.entry.kind] - rank[b.entry.kind]) ||
			a.index - b.index,
	);
	return keyed.map(({ entry }) => entry);
}
