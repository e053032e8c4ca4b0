import { expect, test } from 'vitest';
import type { Schemas } from '../api/client';
import { attemptGroups } from './attemptGroups';

const attempt = (n: number, error: string, response_body = '') =>
	({ attempt: n, error, http_status: 500, stage: 'status', response_body }) as Schemas['Attempt'];

test('consecutive attempts with the same result are one group, the newest first', () => {
	const attempts = [attempt(1, 'a'), attempt(2, 'b'), attempt(3, 'b'), attempt(4, 'b', 'other'), attempt(5, 'a'), attempt(6, 'a')];
	expect(attemptGroups(attempts).map(({ newest, same }) => [newest.attempt, ...same.map((one) => one.attempt)])).toEqual([
		[6, 5],
		[4],
		[3, 2],
		[1],
	]);
});
