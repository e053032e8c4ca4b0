import type { Schemas } from '../../api/client';

/** Step is what an operator or bank was asked and answered. */
export type Step = { at: string; until: string; times: number; act: string; answer: string };

/** TimelineEvent is an event, as far as the story needs it. */
export type TimelineEvent = { id: string; type: string; created: number };

/** Entry is one thing that has happened. */
export type Entry =
	| { kind: 'step'; at: string; step: Step }
	| { kind: 'posting'; at: string; posting: Schemas['WalletEntry'] }
	| { kind: 'event'; at: string; event: TimelineEvent }
	| { kind: 'audit'; at: string; row: Schemas['AuditRow'] };

/** What is in one millisecond is told in this order: it happens, money moves, it is told, it is written down. */
const rank: Record<Entry['kind'], number> = { step: 0, posting: 1, event: 2, audit: 3 };

const base32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/**
 * madeAt is the millisecond in which an id was made, which stands in its first ten
 * letters (a ULID); undefined when the id is of another kind. An event says its second
 * only, and would come before or after everything else of that second.
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
	// The id may be trusted within the second that the event itself says.
	return made !== undefined && made >= second && made < second + 1000 ? made : second;
}

/** micros is the part of an instant below a millisecond, in microseconds. */
function micros(at: string): number {
	return Number((/\.\d{3}(\d{1,3})/.exec(at)?.[1] ?? '').padEnd(3, '0'));
}

/** mergeTimeline brings everything that is known of a record into the order in which it happened. */
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
			// Steps come in their own order, whatever their microseconds: the API has put them so.
			(a.entry.kind === b.entry.kind ? (a.entry.kind === 'step' ? 0 : a.below - b.below) : rank[a.entry.kind] - rank[b.entry.kind]) ||
			a.index - b.index,
	);
	return keyed.map(({ entry }) => entry);
}
