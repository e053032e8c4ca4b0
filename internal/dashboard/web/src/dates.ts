const indianDate = new Intl.DateTimeFormat('en-CA', { timeZone: 'Asia/Kolkata' });

/** today returns the date in India in the format of the API. */
export function today(now: Date): string {
	return indianDate.format(now);
}

/** before returns the date a number of days before another. */
export function before(date: string, days: number): string {
	const at = new Date(`${date}T00:00:00Z`);
	at.setUTCDate(at.getUTCDate() - days);
	return at.toISOString().slice(0, 10);
}

const dated = /^\d{4}-\d{2}-\d{2}$/;

/**
 * range converts days in India, both included, into a range of instants. Text that is no date is passed on for
 * the API to check.
 */
export function range(days: { from?: string | undefined; to?: string | undefined }): { from?: string; to?: string } {
	const { from, to } = days;
	return {
		...(from ? { from: dated.test(from) ? `${from}T00:00:00+05:30` : from } : {}),
		...(to ? { to: dated.test(to) ? `${before(to, -1)}T00:00:00+05:30` : to } : {}),
	};
}
