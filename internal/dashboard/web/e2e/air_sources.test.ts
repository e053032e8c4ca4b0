import { expect, inject, test } from 'vitest';
import type { operations } from '../made/schema';
import { hoursOf } from '../src/air/coverage';
import { reasonText, sourceName } from '../src/air/sourceTexts';
import { number, rows, same } from './air';
import { ask, pictured, signedIn } from './browser';
import { command } from './service';

type Detail = operations['getSource']['responses'][200]['content']['application/json'];
type Reply = operations['listSources']['responses'][200]['content']['application/json'];

const hostile = '{"school":18,"pm25":"6x<script>document.title=1</script>"}';

const problemNames = {
	failing: 'failing runs',
	silent: 'no new readings',
	coverage: 'few readings',
	drift: 'changed format',
	clock: 'times in the future',
} as const;

/** strip returns the text of a coverage. */
function strip(coverage: Reply['data'][number]['coverage']): string {
	const hours = hoursOf(coverage);
	const low = hours.filter(({ level }) => level === 'low' || level === 'none').length;
	const shown = hours.every(({ level }) => level === 'open') ? 'Too new to compare' : `Low hours: ${low}`;
	return `Readings by hour: ${low} of 168 hours have less than 60 % of the usual${shown}`;
}

/** rejected returns the text of the numbers of rejected values by reason: their sum, and the reasons. */
function rejected(of: Reply['data'][number]['last_24_hours']['rejected']): string {
	const reasons = Object.entries(of);
	const sum = number(reasons.reduce((all, [, count]) => all + count, 0));
	return sum + reasons.map(([reason, count]) => (reasons.length === 1 ? '' : `${number(count)} `) + reasonText(reason)).join('');
}

/** expectedRows returns the rows that the page should show. */
function expectedRows(reply: Reply): string[] {
	return reply.data.map(({ source, state, problems, last_run: run, last_24_hours: day, newest_reading_at: newest, coverage }) =>
		[
			sourceName(source),
			problems.map(({ problem }) => problemNames[problem]).join('') || state,
			run.started_at,
			newest ?? '–',
			strip(coverage),
			number(day.stored),
			`${number(day.failed)} of ${number(day.runs)}`,
			rejected(day.rejected),
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
		async () => expectedRows(await ask<Reply>('/v1/sources')),
	);
	expect(faults).toEqual([]);
});

test('failures and rejected values are shown', async () => {
	const { page, faults } = await signedIn('/');
	const at = new Date(Date.now() - 2 * 3_600_000).toISOString();
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
	const hours: number[] = Array.from({ length: 168 }, () => 0);
	const reply: Reply = {
		status: 'success',
		data: [
			{
				source: 'schools',
				newest_reading_at: at,
				last_success_at: at,
				state: 'degraded',
				problems: [
					{ problem: 'failing', since: at },
					{ problem: 'drift', since: at },
				],
				coverage: { from: '2026-11-11T09:30:00Z', hours: hours.map((_, i) => (i > 164 ? 900 : 3120)) },
				progress: null,
				last_run: { ...run, outcome: 'fetch_failed' },
				last_24_hours: { runs: 24, failed: 3, stored: 123456, withdrawn: 0, rejected: { missing_value: 9310, bad_number: 2 } },
			},
			{
				source: 'new',
				newest_reading_at: null,
				last_success_at: null,
				state: 'unknown',
				problems: [],
				coverage: { from: '2026-11-11T09:30:00Z', hours },
				progress: null,
				last_run: { ...run, outcome: 'timed_out' },
				last_24_hours: { runs: 1, failed: 1, stored: 0, withdrawn: 0, rejected: {} },
			},
		],
	};
	await page.route('**/dashboard/v1/sources', (route) => route.fulfill({ json: reply }));
	await page.getByRole('link', { name: 'Sources' }).click();
	const table = page.getByRole('region', { name: 'Sources' });
	await table.waitFor();
	expect(await rows(table)).toEqual(expectedRows(reply));
	await table.getByText('fetch failed').waitFor();
	await table.getByText('timed out').waitFor();
	const fits = await table.evaluate((one) => one.scrollWidth <= one.clientWidth);
	expect(fits, 'the table fits the page').toBe(true);
	await pictured(page, 'sources');
	expect(faults).toEqual([]);
});

test('operators see the errors and the rejected records of a source, and its coverage', async () => {
	const key = ['key', 'create', '--account', 'operators', '--mode', 'sandbox', '--scopes', 'aqi:read,sources:read', '--quiet'];
	const { page, faults } = await signedIn('/', (await command(inject('data'), ...key)).trim());
	const at = '2026-11-18T08:52:03.120482Z';
	const run = { kind: 'live', started_at: at, duration_seconds: 0.4, bytes: 0, withdrawn: 0 } as const;
	const failed = {
		...run,
		run: 2,
		outcome: 'fetch_failed',
		requests: 1,
		stored: 0,
		rejected: {},
		error: 'fetching source "schools": status 503',
	};
	const hours = Array.from({ length: 168 }, (_, i) => (i > 160 ? 20 * (168 - i) : 100 + (i % 7)));
	const problem = { problem: 'coverage', since: at } as const;
	const list: Reply = {
		status: 'success',
		data: [
			{
				source: 'schools',
				newest_reading_at: at,
				last_success_at: at,
				state: 'degraded',
				problems: [problem],
				progress: {
					watermark_at: at,
					partitions: 2,
					partitions_failing: 1,
					oldest_partitions: [{ partition: hostile, watermark_at: at, failures: 4 }],
					backfill: {
						state: 'running',
						from: '2025-12-31T18:30:00Z',
						to: '2026-06-29T18:30:00Z',
						fraction: 0.42,
						partitions: 2,
						partitions_complete: 1,
						partitions_failing: 1,
						stored: 5120034,
						requests: 1871,
						started_at: at,
						advanced_at: at,
					},
				},
				last_run: { ...run, run: 2, outcome: 'fetch_failed', requests: 1, stored: 0, rejected: {} },
				last_24_hours: { runs: 24, failed: 1, stored: 3120, withdrawn: 0, rejected: { bad_number: 1 } },
				coverage: { from: '2026-11-11T09:30:00Z', hours },
			},
		],
	};
	const one: Detail = {
		status: 'success',
		data: {
			source: 'schools',
			problems: [{ ...problem, detail: '40 of the usual 100 readings in the hour that ended at 2026-11-18T07:30:00Z' }],
			runs: [failed, { ...run, run: 1, outcome: 'done', requests: 4, stored: 130, rejected: { bad_number: 1 }, error: '' }],
			rejected: [{ run: 1, started_at: at, reason: 'bad_number', field: 'pm25', station: 'schools-18', line: 2, raw: hostile }],
		},
	};
	await page.route('**/dashboard/v1/sources', (route) => route.fulfill({ json: list }));
	await page.route('**/dashboard/v1/sources/schools', (route) => route.fulfill({ json: one }));
	await page.getByRole('link', { name: 'Sources' }).click();
	await page.getByRole('link', { name: 'schools' }).click();
	await page.getByText('40 of the usual 100 readings').waitFor();
	expect(await rows(page.getByRole('region', { name: 'Last runs' }))).toEqual([
		`${at} | live | fetch failed | 0.4 | 1 | 0 | 0 | fetching source "schools": status 503`,
		`${at} | live | done | 0.4 | 4 | 130 | 1not a number | –`,
	]);
	expect(await rows(page.getByRole('region', { name: 'Rejected values' }))).toEqual([
		`not a number | pm25 | schools-18 | ${at} | 2 | Show record${hostile}`,
	]);
	await page.getByRole('progressbar', { name: '42 % of the range' }).waitFor();
	await page.getByText('no progress', { exact: true }).waitFor();
	expect(await rows(page.getByRole('region', { name: 'Partitions that are furthest behind' }))).toEqual([`${hostile} | ${at} | 4`]);
	expect(await page.locator('.coverage-map td[title]').count()).toBe(168);
	await pictured(page, 'source');
	expect(faults).toEqual([]);
});

test('a key without sources:read sees the coverage of the simulator only', async () => {
	const { page, faults } = await signedIn('/sources/simulator');
	await page.getByText('need a key with the scope sources:read').waitFor();
	await page.getByRole('table', { name: 'Coverage of 7 days' }).waitFor();
	expect(faults).toEqual([]);
});
