import { expect, test } from 'vitest';
import type { operations } from '../made/schema';
import { number, rows, same } from './air';
import { ask, pictured, signedIn } from './browser';

type Reply = operations['listSources']['responses'][200]['content']['application/json'];

/** told returns the rows that the page should show. */
function told(reply: Reply): string[] {
	return reply.data.map(({ source, last_run: run, last_24_hours: day, newest_reading_at: newest }) =>
		[
			source,
			run.outcome.replaceAll('_', ' '),
			run.started_at,
			newest ?? '–',
			number(day.stored),
			`${number(day.failed)} of ${number(day.runs)}`,
			Object.entries(day.rejected)
				.map(([reason, count]) => `${number(count)} ${reason}`)
				.join('') || '0',
		].join(' | '),
	);
}

test('the sources and their runs are those of the API', async () => {
	const { page, faults } = await signedIn('/');
	await page.getByRole('link', { name: 'Sources' }).click();
	const table = page.getByRole('region', { name: 'Sources' });
	await table.waitFor();
	const reply = await ask<Reply>('/v1/sources');
	expect(reply.data.map(({ source }) => source)).toEqual(['simulator']);
	expect(reply.data[0]?.last_24_hours.stored).toBeGreaterThan(0);
	await same(
		() => rows(table),
		async () => told(await ask<Reply>('/v1/sources')),
	);
	expect(faults).toEqual([]);
});

test('failures and rejected values are shown', async () => {
	const { page, faults } = await signedIn('/');
	const at = '2026-11-18T08:52:03.120482Z';
	const run = {
		run: 1,
		kind: 'live',
		started_at: at,
		duration_seconds: 60,
		requests: 4,
		bytes: 0,
		stored: 0,
		withdrawn: 0,
		rejected: {},
	} as const;
	const reply: Reply = {
		status: 'success',
		data: [
			{
				source: 'schools',
				newest_reading_at: at,
				last_success_at: at,
				last_run: { ...run, outcome: 'fetch_failed' },
				last_24_hours: { runs: 24, failed: 3, stored: 123456, withdrawn: 0, rejected: { missing_value: 9310, bad_number: 2 } },
			},
			{
				source: 'new',
				newest_reading_at: null,
				last_success_at: null,
				last_run: { ...run, outcome: 'timeout' },
				last_24_hours: { runs: 1, failed: 1, stored: 0, withdrawn: 0, rejected: {} },
			},
		],
	};
	await page.route('**/dashboard/v1/sources', (route) => route.fulfill({ json: reply }));
	await page.getByRole('link', { name: 'Sources' }).click();
	const table = page.getByRole('region', { name: 'Sources' });
	await table.waitFor();
	expect(await rows(table)).toEqual(told(reply));
	await pictured(page, 'sources');
	expect(faults).toEqual([]);
});
