import { before } from '../format';

/** ends are the instants between which Indian days lie, as lists of the API take them; both days are included. */
export function ends(from: string | undefined, to: string | undefined): { from?: string; to?: string } {
	const found: { from?: string; to?: string } = {};
	if (from && day.test(from)) {
		found.from = `${from}T00:00:00+05:30`;
	}
	if (to && day.test(to)) {
		found.to = `${before(to, -1)}T00:00:00+05:30`;
	}
	return found;
}

const day = /^\d{4}-\d{2}-\d{2}$/;
