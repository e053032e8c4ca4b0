import { beforeAll, expect, inject, test } from 'vitest';
import type { Schemas } from '../src/api/client';
import { facts, number, pastStored, rows, showTable } from './air';
import { accessible, ask, phone, pictured, signedIn } from './browser';

type Statistic = Schemas['Statistic'];

const year = new Date().getFullYear();

beforeAll(pastStored, 900_000);

/** statistics returns the rows of a view of PM2.5 this year. */
async function statistics(view: string, of: string): Promise<Statistic[]> {
	let reply = { data: [] as Statistic[] };
	const query = `/v1/statistics?view=${view}&${of}&parameters=pm25&from=${year}-01-01&limit=1000`;
	// On a busy machine a query can reach its time limit.
	await expect.poll(async () => (reply = await ask(query)), { timeout: 120_000 }).toHaveProperty('data');
	return reply.data;
}

const tenths = (value: number) => value.toLocaleString('en-IN', { minimumFractionDigits: 1, maximumFractionDigits: 1 });

test('a city has the course of its days and weeks, and the days above the limits, as the API has them', async () => {
	const { page, faults } = await signedIn('/air/Pune');
	const hours = page.getByRole('img', { name: /^By hour of the day. PM2.5: lowest/ });
	await hours.waitFor();
	const shown = await statistics('diurnal', 'city=Pune');
	await page.getByRole('heading', { name: 'By hour of the day' }).waitFor();
	await showTable(page, 'By hour of the day');
	const means = new Map<number, { sum: number; hours: number }>();
	for (const { hour = -1, mean, coverage } of shown) {
		const old = means.get(hour) ?? { sum: 0, hours: 0 };
		means.set(hour, { sum: old.sum + (mean ?? 0) * coverage.hours, hours: old.hours + coverage.hours });
	}
	await expect
		.poll(() => rows(page.getByRole('region', { name: 'By hour of the day' })))
		.toEqual(
			[...means]
				.sort(([a], [b]) => a - b)
				.map(([at, { sum, hours }]) => `${String(at).padStart(2, '0')}:00 | ${tenths(sum / hours)} | ${number(hours)}`),
		);
	await page.getByRole('img', { name: /^By day of the week. PM2.5: lowest/ }).waitFor();
	const limits = page.getByRole('region', { name: `Days above the limits, PM2.5, ${year}` });
	const [row] = await statistics('exceedance', 'city=Pune&standard=naaqs_2009');
	await expect.poll(async () => (await rows(limits))[0]).toContain(`${row?.name} | ${row?.exceeded} of ${row?.evaluated} days`);
	await limits.getByRole('columnheader', { name: 'NAAQS, 24 hours: 60 µg/m³' }).waitFor();
	await limits.getByRole('columnheader', { name: 'WHO, 24 hours: 15 µg/m³' }).waitFor();
	await limits.getByRole('columnheader', { name: 'Mean of the year: NAAQS 40, WHO 5 µg/m³' }).waitFor();
	await page.getByLabel('Pollutant', { exact: true }).selectOption('so2');
	await page.getByRole('img', { name: /^By hour of the day. SO₂/ }).waitFor();
	expect(page.url()).toContain('pollutant=so2');
	expect(faults).toEqual([]);
});

test('a station has a page, which its city leads to, with its history and its statistics', async () => {
	const { page, faults } = await signedIn('/air/Pune');
	const link = page.getByRole('region', { name: 'Stations' }).getByRole('link').first();
	const name = (await link.textContent()) ?? '';
	await link.press('Enter'); // statistics that load above the list may move it, so that a click would miss the link
	await page.getByRole('heading', { level: 1, name }).waitFor();
	const id = decodeURIComponent(new URL(page.url()).pathname.split('/').at(-1) ?? '');
	const { aqi } = await ask<{ aqi: number }>(`/v1/aqi?station=${id}`);
	await expect.poll(() => page.locator('.current .index b').textContent()).toBe(String(aqi));
	expect(await facts(page.locator('.current'))).toEqual(expect.arrayContaining(['City: Pune', 'Kind: reference station']));
	await page.getByRole('grid', { name: 'Calendar' }).waitFor();
	await page.getByRole('img', { name: /^By hour of the day. PM2.5/ }).waitFor();
	const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save hours as Parquet' }).click()]);
	expect(saved.suggestedFilename()).toContain(name);
	const stream = await saved.createReadStream();
	const { value } = await stream[Symbol.asyncIterator]().next();
	expect(String(value).slice(0, 4)).toBe('PAR1');
	await pictured(page, 'air-station');
	await page.locator('.current').getByRole('link', { name: 'Pune' }).click();
	await page.getByRole('heading', { level: 1, name: 'Pune' }).waitFor();
	expect(faults).toEqual([]);
});

test('the statistics fit a phone, in Hindi and in the dark', async () => {
	const { page, faults } = await signedIn('/air/Pune', inject('sandbox'), inject('base'), { ...phone, colorScheme: 'dark' });
	await page.getByRole('button', { name: 'Menu' }).click();
	await page.getByLabel('Language').selectOption('hi');
	await page.getByRole('img', { name: /^दिन के घंटे के अनुसार. PM2.5/ }).waitFor();
	expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBe(0);
	await accessible(page);
	expect(faults).toEqual([]);
});

test('a station that does not exist says so', async () => {
	const { page } = await signedIn('/station/nowhere');
	await page.getByText('There is no such station.').waitFor();
});
