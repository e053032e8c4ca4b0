import { Problem, type Reply, unwrap } from '../api/client';

/** Recorded is the result of a call that creates a record: its id, and the error if the record failed. */
export interface Recorded {
	id: string;
	/** problem is the error of a record that failed or is still undecided. */
	problem: Problem | undefined;
}

/**
 * recorded waits for a call that creates a record. name is the field of the reply that has its id. An error reply
 * with an id is a record too. Without an id recorded throws a Problem: either no record exists or the outcome is
 * unknown, and the same reference can be sent again.
 */
export async function recorded<T>(call: Promise<Reply<T>>, name: string): Promise<Recorded> {
	let body: unknown;
	const kept = call.then((reply) => {
		body = reply.data ?? reply.error;
		return reply;
	});
	let problem: Problem | undefined;
	try {
		await unwrap(kept);
	} catch (error) {
		if (!(error instanceof Problem)) {
			throw error;
		}
		problem = error;
	}
	const id = (body as Record<string, unknown> | undefined)?.[name];
	if (typeof id === 'string') {
		return { id, problem };
	}
	throw problem ?? new Problem(0, undefined);
}

/** amountOf parses an amount in rupees with at most two decimals; undefined for other texts. */
export function amountOf(text: string): number | undefined {
	const plain = text
		.trim()
		.replace(/^₹\s*/, '')
		.replace(/,(?=\d)/g, '');
	return /^\d{1,7}(\.\d{1,2})?$/.test(plain) ? Number(plain) : undefined;
}
