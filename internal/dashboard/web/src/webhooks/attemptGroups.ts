import type { Schemas } from '../api/client';

type Attempt = Schemas['Attempt'];

/** AttemptGroup is an attempt with those before it that had the same result, the newest first. */
export interface AttemptGroup {
	newest: Attempt;
	same: readonly Attempt[];
}

/** resultOf is what attempts with the same result have in common. */
function resultOf({ error, http_status, stage, response_body }: Attempt): string {
	return JSON.stringify([error, http_status, stage, response_body]);
}

/** attemptGroups folds consecutive attempts with the same result. attempts are in their order; the newest group is first. */
export function attemptGroups(attempts: readonly Attempt[]): AttemptGroup[] {
	const groups: { newest: Attempt; same: Attempt[] }[] = [];
	for (const attempt of attempts.toReversed()) {
		const last = groups.at(-1);
		if (last && resultOf(last.newest) === resultOf(attempt)) {
			last.same.push(attempt);
		} else {
			groups.push({ newest: attempt, same: [] });
		}
	}
	return groups;
}
