/** Week is seven days from Monday to Sunday. */
export type Week = (string | undefined)[];

const day = 86_400_000;

/** weeks returns the weeks from one date to another (both included), each from Monday to Sunday. */
export function weeks(from: string, to: string): Week[] {
	const first = Date.parse(from);
	const last = Date.parse(to);
	// getUTCDay counts from Sunday.
	const monday = first - ((new Date(first).getUTCDay() + 6) % 7) * day;
	const found: Week[] = [];
	for (let start = monday; start <= last; start += 7 * day) {
		found.push(
			Array.from({ length: 7 }, (_, i) => {
				const at = start + i * day;
				return at < first || at > last ? undefined : new Date(at).toISOString().slice(0, 10);
			}),
		);
	}
	return found;
}

/** Month is a heading above weeks: from the week with its first day to the one before that of the next month. */
export interface Month {
	/** date is a date in the month. */
	date: string;
	weeks: number;
}

/** months returns the headings of weeks. A week belongs to the month of its last shown day. */
export function months(of: readonly Week[]): Month[] {
	const found: Month[] = [];
	for (const week of of) {
		const date = week.findLast((one) => one !== undefined);
		if (!date) {
			continue;
		}
		const last = found.at(-1);
		if (last && last.date.slice(0, 7) === date.slice(0, 7)) {
			last.weeks++;
		} else {
			found.push({ date, weeks: 1 });
		}
	}
	return found;
}

/**
 * halves divides weeks into two parts, at the start of the month that is nearest to the middle, so that no part ends
 * with a single week of a month. Neither part has more than `most` weeks, which is at least half of all weeks.
 */
export function halves(of: readonly Week[], most: number): [Week[], Week[]] {
	let at = Math.ceil(of.length / 2);
	let start = 0;
	let nearest = Number.POSITIVE_INFINITY;
	for (const month of months(of)) {
		const away = Math.abs(start - of.length / 2);
		if (away < nearest && start <= most && of.length - start <= most) {
			[at, nearest] = [start, away];
		}
		start += month.weeks;
	}
	return [of.slice(0, at), of.slice(at)];
}

/** step returns the date that a key moves to, limited to first and last. It is undefined for other keys. */
export function step(key: string, date: string, first: string, last: string): string | undefined {
	const days: Readonly<Record<string, number>> = {
		ArrowLeft: -7,
		ArrowRight: 7,
		ArrowUp: -1,
		ArrowDown: 1,
		PageUp: -28,
		PageDown: 28,
	};
	if (key === 'Home') {
		return first;
	}
	if (key === 'End') {
		return last;
	}
	const by = days[key];
	if (by === undefined) {
		return undefined;
	}
	const to = new Date(Date.parse(date) + by * day).toISOString().slice(0, 10);
	return to < first ? first : to > last ? last : to;
}
