import { Problem, type Reply, unwrap } from '../api/client';

/** Recorded is what became of a call that makes a record: its id, and why it did not go well when it did not. */
export interface Recorded {
	id: string;
	/** problem is that of a record that has failed, or that nobody could decide yet. */
	problem: Problem | undefined;
}

/**
 * recorded waits for a call that makes a record, whose id is under a name. A refusal
 * that has an id is a record, too; one without is thrown as a Problem: nothing was made,
 * or nobody knows, and the same reference may be sent again.
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

/** amountOf reads an amount that a person has typed, in rupees with two decimals at most; undefined when it is none. */
export function amountOf(text: string): number | undefined {
	const plain = text
		.trim()
		.replace(/^₹\s*/, '')
		.replace(/,(?=\d)/g, '');
	return /^\d{1,7}(\.\d{1,2})?$/.test(plain) ? Number(plain) : undefined;
}
