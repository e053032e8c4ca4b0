import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Schemas } from '../src/api/client';
import { dayBefore, showTable, word } from './air';
import { signedIn } from './browser';

/** timed makes a page record its long tasks. It returns a function that reads the longest so far, in milliseconds. */
async function timed(page: Page): Promise<() => Promise<number>> {
	await page.addInitScript(() => {
		const long: number[] = [];
		new PerformanceObserver((list) => long.push(...list.getEntries().map(({ duration }) => duration))).observe({
			type: 'longtask',
			buffered: true,
		});
		Object.assign(window, { long });
	});
	return () => page.evaluate(() => Math.max(0, ...(window as unknown as { long: number[] }).long));
}

/** hours returns invented hourly entries from one day to another, both included. */
function hours(from: string, to: string): { updated: string }[] {
	const first = Date.parse(`${from}T00:00:00+05:30`);
	const count = (Date.parse(to) - Date.parse(from)) / 3_600_000 + 24;
	return Array.from({ length: count }, (_, i) => {
		const at = first + (i + 1) * 3_600_000;
		const aqi = 51 + (Math.floor(at / 3_600_000) % 400);
		const updated = new Date(at).toISOString().replace('.000', '');
		return {
			...{ status: 'success', city: 'Delhi', aqi, category: word(aqi), updated, dominant: 'PM2.5' },
			...{ pm25: aqi / 2, pm10: aqi, no2: 20, so2: 10, co: 1, o3: 30 },
		};
	});
}

test('a year of hours is drawn, and its table loads in parts', async () => {
	const { page, faults } = await signedIn('/compare');
	const longest = await timed(page);
	// Count hours, not replies: new readings make the page fetch some hours again.
	const served = new Set<string>();
	await page.route('**/dashboard/v1/aqi?*interval=hour*', async (route) => {
		const query = new URL(route.request().url()).searchParams;
		const [from, to] = [query.get('from') ?? '', query.get('to') ?? ''];
		const records = hours(from, to);
		for (const record of records) {
			served.add(record.updated);
		}
		await route.fulfill({ json: { status: 'success', city: 'Delhi', from, to, interval: 'hour', records } });
	});
	await page.goto('/dashboard/air/Delhi?span=1y&by=hour');
	await page.getByRole('img', { name: 'between 51 and 450' }).waitFor();
	await page.locator('canvas').waitFor();
	expect(served.size).toBe(8760);
	console.info(`a year of hours: the longest task took ${await longest()} ms`);
	await showTable(page);
	const table = page.locator('.figures');
	await table.getByRole('row').nth(100).waitFor();
	expect(await table.locator('tbody tr').count()).toBe(100);
	await table.getByRole('button', { name: 'Show more' }).click();
	await expect.poll(() => table.locator('tbody tr').count()).toBe(300);
	console.info(`with its table: ${await longest()} ms`);
	expect(faults).toEqual([]);
});

test('ten thousand cities: the list draws only a part of them', async () => {
	const { page, faults } = await signedIn('/compare');
	const longest = await timed(page);
	await page.route('**/dashboard/v1/cities?*', async (route) => {
		const first = Number(new URL(route.request().url()).searchParams.get('cursor') ?? 0);
		const data: Schemas['City'][] = Array.from({ length: 1000 }, (_, i) => {
			const n = first + i;
			const aqi = 1 + (n % 500);
			return {
				...{ name: `City ${n}`, city: `City ${n}`, state: `State ${n % 30}`, aqi, category: word(aqi) as Schemas['Category'] },
				...{ updated: new Date().toISOString(), stale: false, age_hours: 0, first_day: dayBefore(1), last_day: dayBefore(0) },
				...{ latitude: 10 + (n % 200) / 10, longitude: 72 + ((n / 200) % 20), stations: 1 },
			};
		});
		const next = first + 1000 < 10_000 ? String(first + 1000) : null;
		await route.fulfill({ json: { status: 'success', data, has_more: next !== null, next_cursor: next } });
	});
	await page.goto('/dashboard/');
	await page.getByText('Cities: 10,000.').waitFor();
	const items = page.getByRole('list', { name: 'Places' }).getByRole('listitem');
	expect(await items.count()).toBe(100);
	await page.getByRole('button', { name: 'Show more' }).click();
	await expect.poll(() => items.count()).toBe(300);
	await page.getByLabel('State', { exact: true }).selectOption('State 7');
	await page.getByText('Cities: 334.').waitFor();
	expect(await items.count()).toBe(100);
	console.info(`ten thousand cities: the longest task took ${await longest()} ms`);
	expect(faults).toEqual([]);
});
