import type { Locator, Page } from 'playwright-core';
import { expect, inject, vi } from 'vitest';
import { ask } from './browser';
import { command } from './service';

/**
 * pastStored waits until the sandbox has its past. A new service stores 60 days while it already serves, the newest
 * first. A page keeps its statistics for ten minutes, so before that they can differ from its calendar.
 */
export async function pastStored(): Promise<void> {
	const stored = () => command(inject('data'), 'sql', '--mode', 'sandbox', 'SELECT min(day) <= today() - 58 AS stored FROM city_day');
	const first = async () => (await range('Pune', 70, 'day'))[0]?.date ?? dayBefore(0);
	await vi.waitFor(
		async () => {
			expect(await stored()).toMatch(/\b1\b/);
			expect((await first()) <= dayBefore(59)).toBe(true);
		},
		{ timeout: 800_000, interval: 3000 },
	);
}

/**
 * same waits until a page shows what the API returns. It reads both on every attempt, because simulated readings
 * can arrive in between and the page updates itself.
 */
export async function same(shown: () => Promise<string[]>, want: () => Promise<string[]>): Promise<void> {
	await expect
		.poll(
			async () => {
				const [has, answered] = [await shown(), await want()];
				return Array.from({ length: Math.max(has.length, answered.length) }, (_, i) => [has[i], answered[i]])
					.filter(([one, other]) => one !== other)
					.slice(0, 5);
			},
			{ timeout: 120_000, interval: 500 },
		)
		.toEqual([]);
}

/** rows returns one line for each row of a table's body. Times are in the format of the API. */
export function rows(table: Locator): Promise<string[]> {
	return table
		.locator('tbody tr')
		.evaluateAll((all) =>
			all.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.querySelector('time')?.dateTime ?? cell.textContent).join(' | ')),
		);
}

/** facts returns the names and values in a part of a page. Times are in the format of the API. */
export function facts(part: Locator): Promise<string[]> {
	return part
		.locator('dl.facts > div')
		.evaluateAll((all) =>
			all.map(
				(one) => `${one.querySelector('dt')?.textContent}: ${one.querySelector('time')?.dateTime ?? one.querySelector('dd')?.textContent}`,
			),
		);
}

/** number formats a figure with Indian grouping and without rounding. */
export function number(value: number): string {
	return new Intl.NumberFormat('en-IN', { maximumFractionDigits: 20 }).format(value);
}

/** concentration formats a concentration with two decimals or more. */
export function concentration(value: number): string {
	return new Intl.NumberFormat('en-IN', { minimumFractionDigits: 2, maximumFractionDigits: 20 }).format(value);
}

/** word returns the name of CPCB's category for an index. */
export function word(index: number): string {
	const tops = [50, 100, 200, 300, 400];
	const names = ['Good', 'Satisfactory', 'Moderate', 'Poor', 'Very Poor', 'Severe'];
	return names[tops.filter((top) => index > top).length] ?? '';
}

/** dayBefore returns the date in India a number of days ago. */
export function dayBefore(days: number): string {
	return new Intl.DateTimeFormat('en-CA', { timeZone: 'Asia/Kolkata' }).format(new Date(Date.now() - days * 86_400_000));
}

/** Entry is one hour or one day of a range. */
export interface Entry {
	aqi: number;
	category: string;
	pm25: number | null;
	updated: string;
	date?: string;
}

/** range requests the hours or days of a city, from a number of days ago until today. */
export async function range(city: string, days: number, interval: 'hour' | 'day'): Promise<Entry[]> {
	const query = `city=${encodeURIComponent(city)}&from=${dayBefore(days)}&to=${dayBefore(0)}&interval=${interval}`;
	return (await ask<{ records: Entry[] }>(`/v1/aqi?${query}`)).records;
}

/** stamps formats the times of entries in India as the browser does: a date, or a date and an hour. */
export function stamps(page: Page, of: readonly Entry[]): Promise<string[]> {
	return page.evaluate(
		(entries) =>
			entries.map(({ date, updated }) =>
				new Intl.DateTimeFormat('en-IN', {
					dateStyle: 'medium',
					...(date ? {} : { timeStyle: 'short' }),
					timeZone: 'Asia/Kolkata',
				}).format(new Date(date ? `${date}T00:00:00+05:30` : updated)),
			),
		of,
	);
}

/** showTable shows the table of the chart in the card of a heading. A page has several charts, which arrive in any order. */
export function showTable(page: Page, heading = 'Over time'): Promise<void> {
	const card = page.locator('.card', { has: page.getByRole('heading', { name: heading, exact: true }) });
	return card.getByRole('button', { name: 'Show table' }).first().click();
}

/** whole loads all rows of the table that repeats a chart's figures. */
export async function whole(page: Page): Promise<Locator> {
	const table = page.locator('.figures');
	await table.getByRole('table').waitFor();
	const more = table.getByRole('button', { name: 'Show more' });
	while ((await more.count()) > 0) {
		const before = await table.locator('tbody tr').count();
		await more.click();
		await expect.poll(() => table.locator('tbody tr').count()).toBeGreaterThan(before);
	}
	return table;
}
