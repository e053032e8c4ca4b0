import type { Schemas } from '../api/client';

type Day = Schemas['UsageDay'];

/** Sum is the total of several rows of usage. */
export interface Sum {
	calls: number;
	failed: number;
	counted: number;
}

const nothing: Sum = { calls: 0, failed: 0, counted: 0 };

function add(to: Sum, day: Day): void {
	to.calls += day.calls;
	to.failed += day.failed;
	to.counted += day.counted;
}

/** totalOf returns the total of all rows. */
export function totalOf(days: readonly Day[]): Sum {
	const sum = { ...nothing };
	for (const day of days) {
		add(sum, day);
	}
	return sum;
}

/** difference returns a sum without a part of it. No figure of it is negative. */
export function difference(whole: Sum, part: Sum): Sum {
	const rest = (name: keyof Sum) => Math.max(0, whole[name] - part[name]);
	return { calls: rest('calls'), failed: rest('failed'), counted: rest('counted') };
}

/** withoutKey returns the calls of each operation and day that the rows by key do not have. */
export function withoutKey(days: readonly Day[], byKey: readonly Day[]): Day[] {
	const name = ({ date, operation }: Day) => `${date} ${operation}`;
	const keyed = new Map(totals(byKey, name).map((sum) => [sum.of, sum]));
	return days.map((day) => ({ ...day, ...difference(day, keyed.get(name(day)) ?? nothing) })).filter(({ calls }) => calls > 0);
}

/** sums returns the total of each operation over all days, the most used first. */
export function sums(days: readonly Day[]): (Sum & { operation: string })[] {
	return totals(days, (day) => day.operation).map(({ of, ...sum }) => ({ ...sum, operation: of }));
}

/** sumsByKey returns the total of each key over all days, the most used first. */
export function sumsByKey(days: readonly Day[]): (Sum & { key: string })[] {
	return totals(days, (day) => day.key_id ?? '').map(({ of, ...sum }) => ({ ...sum, key: of }));
}

function totals(days: readonly Day[], part: (day: Day) => string): (Sum & { of: string })[] {
	const found = new Map<string, Sum & { of: string }>();
	for (const day of days) {
		const of = part(day);
		const sum = found.get(of) ?? { of, ...nothing };
		add(sum, day);
		found.set(of, sum);
	}
	return [...found.values()].sort((a, b) => b.calls - a.calls || a.of.localeCompare(b.of));
}

/**
 * byDay returns the total of each day of a period, which includes all days with calls. A day without calls has zeros.
 */
export function byDay(days: readonly Day[], from: string, to: string): (Sum & { date: string })[] {
	const found = new Map<string, Sum & { date: string }>();
	const dates = [from, to, ...days.map((day) => day.date)].sort();
	const last = dates.at(-1) ?? '';
	for (let at = dates[0] ?? ''; at !== '' && at <= last; at = next(at)) {
		found.set(at, { date: at, ...nothing });
	}
	for (const day of days) {
		const sum = found.get(day.date);
		if (sum) {
			add(sum, day);
		}
	}
	return [...found.values()];
}

function next(date: string): string {
	const at = new Date(`${date}T00:00:00Z`);
	at.setUTCDate(at.getUTCDate() + 1);
	return at.toISOString().slice(0, 10);
}

/**
 * forecast returns the calls of the whole month of a quota, if they continue at their mean rate; undefined on its first
 * day, because the rate of one day says little.
 */
export function forecast(quota: Pick<Schemas['Quota'], 'period' | 'used' | 'resets_at'>, now: Date): number | undefined {
	const begin = Date.parse(`${quota.period}-01T00:00:00Z`);
	const [length, elapsed] = [Date.parse(quota.resets_at) - begin, now.getTime() - begin];
	return elapsed < 86_400_000 || elapsed > length ? undefined : Math.round((quota.used * length) / elapsed);
}

/** periodOf returns the days of the usage, as the API chooses them: by default the month of the last day, in UTC. */
export function periodOf(chosen: { from?: string; to?: string }, now: Date): { from: string; to: string } {
	const to = chosen.to ?? now.toISOString().slice(0, 10);
	return { from: chosen.from ?? `${to.slice(0, 8)}01`, to };
}
