import { QueryClient, QueryClientProvider } from '@tanstack/preact-query';
import { render, screen, within } from '@testing-library/preact';
import { beforeEach, expect, test, vi } from 'vitest';
import { api } from '../api/client';
import { sessionState } from '../session';
import type { SourceRow } from './coverage';
import { Source } from './Source';
import { Sources } from './Sources';
import type { SourceDetail } from './sourceQueries';

const at = '2026-11-18T08:52:03.120482Z';
const run = { run: 7, kind: 'live', started_at: at, duration_seconds: 0.4321, requests: 1, bytes: 0, stored: 0, withdrawn: 0 } as const;

const row: SourceRow = {
	source: 'school air',
	newest_reading_at: at,
	last_success_at: at,
	state: 'degraded',
	problems: [
		{ problem: 'coverage', since: at },
		{ problem: 'drift', since: at },
	],
	last_run: { ...run, outcome: 'fetch_failed', rejected: {} },
	last_24_hours: { runs: 24, failed: 3, stored: 123456, withdrawn: 0, rejected: { bad_number: 2, missing_value: 9310 } },
	progress: {
		watermark_at: at,
		partitions: 3,
		partitions_failing: 1,
		oldest_partitions: [{ partition: '8118', watermark_at: '2026-11-16T08:00:00Z', failures: 4 }],
		backfill: {
			state: 'running',
			from: '2025-12-31T18:30:00Z',
			to: '2026-06-29T18:30:00Z',
			fraction: 0.4279,
			partitions: 3,
			partitions_complete: 1,
			partitions_failing: 1,
			stored: 5120034,
			requests: 1871,
			started_at: at,
			advanced_at: at,
		},
	},
	coverage: { from: '2026-11-11T09:30:00Z', hours: [...Array.from({ length: 166 }, () => 100), 40, 0] },
};

const detail: SourceDetail = {
	source: 'school air',
	problems: [{ problem: 'drift', since: at, detail: 'fields that are gone: pm25' }],
	runs: [{ ...run, outcome: 'fetch_failed', rejected: {}, error: 'status 503' }],
	rejected: [{ run: 7, started_at: at, reason: 'bad_number', field: 'pm25', station: '', line: 2, raw: '{"pm25":"<b>6x"}' }],
};

const replies = new Map<string, unknown>();

const get = vi.fn(async (path: string) => {
	const data = replies.get(path);
	return data
		? { data, response: Response.json(data) }
		: { error: { error: { code: 'not_found', message: 'There is none.' } }, response: new Response(null, { status: 404 }) };
});

/** signIn sets the scopes of the session's key. */
function signIn(...scopes: string[]): void {
	sessionState.value = { at: 'in', current: { key: { scopes } } } as unknown as typeof sessionState.value;
}

beforeEach(() => {
	signIn('aqi:read', 'sources:read');
	replies.clear();
	replies.set('/v1/sources', { status: 'success', data: [row] });
	replies.set('/v1/sources/{source}', { status: 'success', data: detail });
	get.mockClear();
	vi.spyOn(api, 'GET').mockImplementation(get as unknown as typeof api.GET);
});

function show(page: 'list' | 'one'): void {
	render(
		<QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
			{page === 'list' ? <Sources /> : <Source source="school%20air" />}
		</QueryClientProvider>,
	);
}

test('the list shows problems, freshness and the coverage', async () => {
	show('list');
	const cells = within(await screen.findByRole('table', { name: 'Sources' }));
	expect(cells.getByText('few readings').className).toBe('badge warn');
	expect(cells.getByText('changed format')).toBeTruthy();
	expect(cells.getByText('3 of 24')).toBeTruthy();
	expect(cells.getByRole('link', { name: 'school air' }).getAttribute('href')).toBe('/sources/school%20air');
	expect(cells.getByRole('img').getAttribute('aria-label')).toBe('Readings by hour: 1 of 168 hours have less than 60 % of the usual');
});

test.each(['good', 'unknown'] as const)('a source without problems is %s', async (state) => {
	replies.set('/v1/sources', { status: 'success', data: [{ ...row, state, problems: [] }] });
	show('list');
	expect(await screen.findByText(state)).toBeTruthy();
});

test('operators see what was found, errors of runs and the text of rejected values', async () => {
	show('one');
	expect(await screen.findByText('fields that are gone: pm25')).toBeTruthy();
	expect(screen.getByText('status 503')).toBeTruthy();
	expect(screen.getByText('{"pm25":"<b>6x"}')).toBeTruthy();
	expect(screen.getByText('0.43')).toBeTruthy();
});

test('other keys see the problems and the coverage, and ask for nothing else', async () => {
	signIn('aqi:read');
	show('one');
	expect(await screen.findByText('few readings')).toBeTruthy();
	expect(screen.getByText(/need a key with the scope sources:read/)).toBeTruthy();
	expect(get.mock.calls.map(([path]) => path)).toEqual(['/v1/sources']);
});

test('the coverage has a cell for each hour, with its readings in the title', async () => {
	show('one');
	const table = await screen.findByRole('table', { name: 'Coverage of 7\u00a0days' });
	expect(within(table).getAllByTitle(/readings/)).toHaveLength(168);
	const low = within(table).getByTitle('18 Nov 2026, 12:00 pm IST: 40 readings, 40 % of the usual');
	expect([low.textContent, low.className]).toEqual(['40', 'coverage-low']);
});

test('a source that has not run has a message', async () => {
	replies.clear();
	replies.set('/v1/sources', { status: 'success', data: [] });
	show('one');
	expect(await screen.findByText('This source has not run in the last 30 days')).toBeTruthy();
	expect((await screen.findByRole('alert')).textContent).toContain('There is none.');
});

test('the progress of a source and of its backfill is shown', async () => {
	show('one');
	expect(await screen.findByText('3, of which 1 failing')).toBeTruthy();
	const oldest = within(screen.getByRole('table', { name: 'Partitions that are furthest behind' }));
	expect(oldest.getByText('8118')).toBeTruthy();
	expect(oldest.getByText('4')).toBeTruthy();
	expect(screen.getByText('no progress')).toBeTruthy();
	expect(screen.getByText(/The last progress is more than an hour old/)).toBeTruthy();
	expect(screen.getByRole('progressbar', { name: '42 % of the range' })).toBeTruthy();
	expect(screen.getByText('1 of 3')).toBeTruthy();
	expect(screen.getByText('51,20,034')).toBeTruthy();
});

test('a source of unknown progress has no such part', async () => {
	replies.set('/v1/sources', { status: 'success', data: [{ ...row, progress: null }] });
	show('one');
	await screen.findByText('few readings');
	expect(screen.queryByText('Progress')).toBeNull();
});

test('a backfill with progress in the last hour is running', async () => {
	const { progress } = row;
	const backfill = progress?.backfill && { ...progress.backfill, advanced_at: new Date(Date.now() - 60_000).toISOString() };
	replies.set('/v1/sources', { status: 'success', data: [{ ...row, progress: progress && { ...progress, backfill } }] });
	show('one');
	expect(await screen.findByText('running')).toBeTruthy();
	expect(screen.queryByText('no progress')).toBeNull();
});
