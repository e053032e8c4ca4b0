import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Schemas } from '../src/api/client';
import { dayBefore, range } from './air';
import { ask, pictured, signedIn } from './browser';

/** saved saves the chart of a page as a file and returns its name and content. */
async function saved(page: Page, type: 'PNG' | 'SVG' | 'CSV'): Promise<{ name: string; content: Buffer }> {
	const saving = page.waitForEvent('download');
	await page.getByRole('button', { name: `Save as ${type}` }).click();
	const file = await saving;
	return { name: file.suggestedFilename(), content: await readFile(await file.path()) };
}

const last = dayBefore(2);
const first = dayBefore(9);
const days = `span=range&from=${first}&to=${last}&by=day`;

test('a chart is saved as pictures with their sources, and as a table', async () => {
	const { page, faults } = await signedIn(`/air/Mumbai?${days}`);
	await expect
		.poll(async () => (await range('Mumbai', 9, 'day')).filter(({ date = '' }) => date <= last).length, {
			timeout: 240_000,
			interval: 2000,
		})
		.toBe(8);
	await page.reload();
	await page.getByRole('img', { name: 'Index (AQI)' }).waitFor();
	const png = await saved(page, 'PNG');
	expect(png.name).toMatch(/^Mumbai-Index-AQI-.+\.png$/);
	expect(png.content.subarray(0, 8).toString('hex')).toBe('89504e470d0a1a0a');
	expect(png.content.readUInt32BE(16)).toBe(1920);
	const svg = (await saved(page, 'SVG')).content.toString();
	const { attribution } = await ask<Schemas['DetailedRecord']>('/v1/aqi?city=Mumbai&view=detail');
	expect(svg).toMatch(/^<svg .*<\/svg>$/);
	for (const text of ['<title>Mumbai, Index (AQI), ', ...attribution]) {
		expect(svg).toContain(text);
	}
	const csv = (await saved(page, 'CSV')).content.toString().trim().split('\r\n');
	const want = (await range('Mumbai', 9, 'day')).filter(({ date = '' }) => date <= last).map(({ date, aqi }) => `${date},${aqi}`);
	expect(csv).toEqual(['day,Index (AQI)', ...want]);
	expect(faults).toEqual([]);
});

test('a copied link opens the same selection, in Hindi too', async () => {
	const { page, faults } = await signedIn(`/compare?city=Delhi&city=Pune`);
	await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
	await page.getByRole('button', { name: '30 days' }).click();
	await page.getByRole('button', { name: 'Copy link' }).click();
	await page.getByRole('button', { name: 'Copied' }).waitFor();
	const link = await page.evaluate(() => navigator.clipboard.readText());
	expect(link).toBe(page.url());
	expect(link).toContain('city=Delhi&city=Pune&span=30d');
	await page.getByLabel('Language').selectOption('hi');
	await page.getByRole('button', { name: 'लिंक कॉपी करें' }).waitFor();
	await page.getByRole('button', { name: 'PNG सहेजें' }).waitFor();
	await pictured(page, 'air-compare-hindi');
	expect(faults).toEqual([]);
});

test('times can be shown in UTC, and a reload keeps the choice', async () => {
	const { page } = await signedIn('/air/Delhi');
	const time = page.locator('.current .facts time');
	await expect.poll(() => time.textContent()).toMatch(/ IST$/);
	await page.getByLabel('Time zone').selectOption('UTC');
	const utc = async () => {
		const at = (await time.getAttribute('datetime')) ?? '';
		const [shown, want] = await Promise.all([
			time.textContent(),
			page.evaluate(
				(moment) => new Intl.DateTimeFormat('en-IN', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' }).format(new Date(moment)),
				at,
			),
		]);
		return shown === `${want} UTC`;
	};
	await expect.poll(utc).toBe(true);
	await page.reload();
	await time.waitFor();
	await expect.poll(utc).toBe(true);
});

test('a printed page is a report on white paper, also in the dark scheme', async () => {
	const { page, faults } = await signedIn('/air/Delhi');
	await page.getByLabel('Theme').selectOption('dark');
	await page.getByRole('img', { name: 'Index (AQI)' }).waitFor();
	await page.getByRole('grid', { name: 'Calendar' }).waitFor();
	await page.emulateMedia({ media: 'print' });
	// The width of A4 without margins.
	await page.setViewportSize({ width: 703, height: 1000 });
	for (const hidden of [
		page.getByRole('navigation', { name: 'Main' }),
		page.locator('.bar'),
		page.getByRole('button', { name: 'Copy link' }),
	]) {
		expect(await hidden.isVisible()).toBe(false);
	}
	const styles = await page.evaluate(() => ({
		ground: getComputedStyle(document.documentElement).backgroundColor,
		ink: getComputedStyle(document.querySelector('h1') ?? document.body).color,
		index: getComputedStyle(document.querySelector('.index') ?? document.body).printColorAdjust,
		over: document.documentElement.scrollWidth - document.documentElement.clientWidth,
	}));
	expect(styles).toEqual({ ground: 'rgb(255, 255, 255)', ink: 'rgb(21, 32, 43)', index: 'exact', over: 0 });
	// The year fits the paper.
	const calendar = await page.locator('.calendar').boundingBox();
	expect((calendar?.x ?? 0) + (calendar?.width ?? 9999)).toBeLessThanOrEqual(703);
	// Printing draws the chart in the light scheme, and the dark one returns afterwards.
	await page.emulateMedia({ media: null });
	const printing = () => page.evaluate(() => document.documentElement.hasAttribute('data-printing'));
	await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
	expect(await printing()).toBe(true);
	await page.evaluate(() => dispatchEvent(new Event('afterprint')));
	expect(await printing()).toBe(false);
	expect(await page.locator('.chart canvas').count()).toBe(1);
	expect(faults).toEqual([]);
});
