const indianDate = new Intl.DateTimeFormat('en-CA', { timeZone: 'Asia/Kolkata' });

/** today is the date in India, as the API writes dates. */
export function today(now: Date): string {
	return indianDate.format(now);
}

/** before is the date that lies a number of days before another. */
export function before(date: string, days: number): string {
	const at = new Date(`${date}T00:00:00Z`);
	at.setUTCDate(at.getUTCDate() - days);
	return at.toISOString().slice(0, 10);
}

const dated = /^\d{4}-\d{2}-\d{2}$/;

/** range turns days of India, both included, into the instants between which they lie; what is no day is left to the API to read. */
export function range(days: { from?: string | undefined; to?: string | undefined }): { from?: string; to?: string } {
	const { from, to } = days;
	return {
		...(from ? { from: dated.test(from) ? `${from}T00:00:00+05:30` : from } : {}),
		...(to ? { to: dated.test(to) ? `${before(to, -1)}T00:00:00+05:30` : to } : {}),
	};
}
