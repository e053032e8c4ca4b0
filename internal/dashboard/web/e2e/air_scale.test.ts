import type { Page } from 'playwright-core';
import { expect, inject, test } from 'vitest';
import type { Schemas } from '../src/api/client';
import { same } from './air';
import { accessible, ask, phone, pictured, signedIn } from './browser';

const still = { reducedMotion: 'reduce' } as const;

type Hour = Schemas['StationInHour'];

const kerala = '&layer=stations&state=Kerala';

/** hourOn requests the stations of Kerala in an hour on a scale. */
async function hourOn(hour: string, scale: string): Promise<Hour[]> {
	const ids = (await ask<{ data: Schemas['Station'][] }>('/v1/stations?state=Kerala&limit=1000')).data.map(({ id }) => id);
	return (await ask<{ data: Hour[] }>(`/v1/hours?hour=${hour}&scale=${scale}&limit=1000`)).data.filter(({ station }) =>
		ids.includes(station),
	);
}

/** presentOn requests the current figures of the stations of Kerala on a scale. */
async function presentOn(scale: string): Promise<Hour[]> {
	const { hour } = await ask<{ hour: string }>('/v1/hours?limit=1');
	const before = (count: number) => new Date(Date.parse(hour) - count * 3_600_000).toISOString().replace('.000Z', 'Z');
	const all = (await Promise.all([2, 1, 0].map((count) => hourOn(before(count), scale)))).flat();
	const current = (await ask<{ data: Schemas['Station'][] }>('/v1/stations?state=Kerala&limit=1000')).data.filter(({ stale }) => !stale);
	const newest = new Map(all.map((one) => [one.station, one]));
	return current.flatMap(({ id }) => newest.get(id) ?? []);
}

/** lines returns the figures and the words of the list, without places that do not report. */
const lines = (page: Page) => page.getByRole('list', { name: 'Places' }).locator('.index:not(.stale)').allTextContents();

/** expected returns the lines for stations, the highest figure first. */
function expected(of: readonly Hour[], figure: (one: Hour) => { index: number | null; category: string | null } | undefined): string[] {
	const words: Record<string, string> = {
		...{ 'Unhealthy for Sensitive Groups': 'Unhealthy for sensitive groups', 'Very Unhealthy': 'Very unhealthy' },
		'Very poor': 'Very Poor',
	};
	const found = of.map((one) => {
		const part = figure(one);
		return { index: part?.index ?? null, category: part?.category ?? null };
	});
	return found
		.sort((a, b) => (b.index ?? -1) - (a.index ?? -1))
		.map(({ index, category }) => (index === null ? '– no AQI' : `${Math.round(index * 10) / 10} ${words[category ?? ''] ?? category}`));
}

test('stations are on another scale now and in past hours, and the link keeps it', async () => {
	const { page, faults } = await signedIn(`/?map=detailed${kerala}`, inject('sandbox'), inject('base'), still);
	const scale = page.getByLabel('Scale', { exact: true });
	await scale.selectOption('us');
	await same(
		async () => (await lines(page)).sort(),
		async () => expected(await presentOn('us'), (one) => one.scale).sort(),
	);
	expect((await lines(page)).some((line) => /\d/.test(line))).toBe(true);
	const legend = page.getByRole('list', { name: 'AQI categories' });
	await legend.getByText('Unhealthy for sensitive groups').waitFor();
	await legend.getByText('101–150').waitFor();
	expect(await legend.getByText('Satisfactory').count()).toBe(0);
	// The marks have the colours of EPA.
	const colours = await page
		.locator('.detailed .pin:not(.stale) > span')
		.evaluateAll((all) => all.map((one) => getComputedStyle(one).backgroundColor));
	const epa = ['rgb(0, 228, 0)', 'rgb(255, 255, 0)', 'rgb(255, 126, 0)', 'rgb(255, 0, 0)', 'rgb(143, 63, 151)', 'rgb(126, 0, 35)'];
	expect(colours.length).toBeGreaterThan(0);
	expect(colours.filter((one) => !epa.includes(one))).toEqual([]);
	await pictured(page, 'air-scale');
	// A past hour, by keyboard, for a pollutant.
	await page.getByLabel('Metric', { exact: true }).selectOption('pm25');
	await page.getByRole('slider', { name: 'Hour in the last 7 days' }).focus();
	for (let i = 0; i < 4; i++) {
		await page.keyboard.press('ArrowLeft');
	}
	await page.getByText('Stations in the hour ending').waitFor();
	const chosen = () => new URL(page.url()).searchParams;
	await same(
		async () => (await lines(page)).sort(),
		async () => expected(await hourOn(chosen().get('hour') ?? '', 'us'), (one) => one.scale?.pollutants.pm25).sort(),
	);
	await scale.selectOption('eu');
	await legend.getByText('Extremely poor').waitFor();
	await page.reload();
	await expect.poll(() => scale.inputValue()).toBe('eu');
	expect([chosen().get('scale'), chosen().get('of')]).toEqual(['eu', 'pm25']);
	await same(
		async () => (await lines(page)).sort(),
		async () => expected(await hourOn(chosen().get('hour') ?? '', 'eu'), (one) => one.scale?.pollutants.pm25).sort(),
	);
	// India's index is the default, and cities have no other scale.
	await scale.selectOption('in');
	await page.getByRole('list', { name: 'PM2.5 (µg/m³)' }).getByText('Satisfactory').waitFor();
	await page.getByRole('button', { name: 'Cities', exact: true }).click();
	await expect.poll(() => scale.count()).toBe(0);
	expect(faults).toEqual([]);
});

test('on a phone in Hindi the simple map shows the ratio to the guidelines of WHO', async () => {
	const { page, faults } = await signedIn(`/?${kerala.slice(1)}`, inject('sandbox'), inject('base'), { ...phone, ...still });
	await page.getByRole('button', { name: 'Menu' }).click();
	await page.getByLabel('Language').selectOption('hi');
	await page.getByRole('button', { name: 'मेनू' }).click();
	await page.getByRole('button', { name: 'फ़िल्टर' }).click();
	await page.getByLabel('पैमाना', { exact: true }).selectOption('who');
	await page.getByText('2021 के WHO मानक').waitFor();
	await page.locator('.legend').getByText('अंतरिम लक्ष्य 1 से ऊपर').waitFor();
	await same(
		async () => (await page.locator('.places .index:not(.stale) b').allTextContents()).sort(),
		async () =>
			(await presentOn('who')).map(({ scale }) => (scale?.index == null ? '–' : String(Math.round(scale.index * 10) / 10))).sort(),
	);
	await accessible(page);
	expect(faults).toEqual([]);
});

test('the slider is directly below the map, times have no seconds, and grey marks speak of the hour', async () => {
	const { page, faults } = await signedIn('/?map=detailed&layer=stations', inject('sandbox'), inject('base'), still);
	await page.locator('.detailed .pin').first().waitFor();
	const map = await page.locator('.detailed-frame').boundingBox();
	const slider = await page.locator('.time-slider').boundingBox();
	const below = (slider?.y ?? 0) - (map?.y ?? 0) - (map?.height ?? 0);
	expect(below).toBeGreaterThanOrEqual(0);
	expect(below).toBeLessThan(24);
	const counted = page.getByText('Latest data');
	await counted.waitFor();
	expect(await counted.textContent()).toMatch(/\d:\d\d\s[ap]m IST/);
	expect(await counted.textContent()).not.toMatch(/\d:\d\d:\d\d/);
	// A week ago no station had a reading.
	await page.getByRole('slider', { name: 'Hour in the last 7 days' }).focus();
	await page.keyboard.press('ArrowLeft');
	await page.getByText('Stations in the hour ending').waitFor();
	const empty = { status: 'success', hour: '', data: [], has_more: false, next_cursor: null };
	await page.route('**/v1/hours?*', async (route) => {
		const hour = new URL(route.request().url()).searchParams.get('hour') ?? '';
		await route.fulfill({ json: { ...empty, hour } });
	});
	await page.keyboard.press('Home');
	await expect.poll(() => page.locator('.detailed .pin:not(.stale)').count()).toBe(0);
	const titles = await page.locator('.detailed .pin').evaluateAll((all) => all.map((one) => (one as HTMLElement).title));
	expect(titles.length).toBeGreaterThan(0);
	expect(titles.filter((title) => !title.includes('No reading in this hour'))).toEqual([]);
	await page.getByRole('status').getByText('No reading in this hour:').waitFor();
	expect(faults).toEqual([]);
});
