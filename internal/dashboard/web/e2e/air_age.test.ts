import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Schemas } from '../src/api/client';
import { ask, pictured, signedIn } from './browser';

const day = 86_400_000;

/** city returns a city of the API whose figures are a number of days old. */
function city(name: string, aqi: number, category: Schemas['Category'], days: number): Schemas['City'] {
	const updated = new Date(Date.now() - days * day).toISOString();
	return {
		...{ name, city: name, state: 'Delhi', aqi, category, updated, stale: days > 0, age_hours: 24 * days },
		...{ latitude: 28 - Math.sqrt(days) / 10, longitude: 77, stations: 1, first_day: '2015-07-10', last_day: updated.slice(0, 10) },
	};
}

/** serve makes the API return cities of which only Pusa has figures of today. */
async function serve(page: Page): Promise<void> {
	const data = [city('Pusa', 120, 'Moderate', 0), city('North Campus', 302, 'Very Poor', 125), city('Mathura Road', 500, 'Severe', 4150)];
	await page.route('**/dashboard/v1/cities?*', (route) =>
		route.fulfill({ json: { status: 'success', data, has_more: false, next_cursor: null } }),
	);
}

test('figures that are months old have no colour, no rank and no place in the counts', async () => {
	const { page, faults } = await signedIn('/compare');
	await serve(page);
	await page.goto('/dashboard/');
	await page.getByText('Reporting: 1. Not reporting: 2.').waitFor();
	const items = page.getByRole('list', { name: 'Places' }).getByRole('listitem');
	expect(await items.locator('.place-name').allTextContents()).toEqual([
		'Pusa Delhi',
		'Mathura Road DelhiLast reported 4,150 days ago',
		'North Campus DelhiLast reported 125 days ago',
	]);
	expect(await items.locator('.index.stale').count()).toBe(2);
	expect(await page.locator('.mark.stale').count()).toBe(2);
	expect(await page.locator('.mark.aqi-moderate').count()).toBe(1);
	const legend = page.getByRole('list', { name: 'AQI categories' });
	expect((await legend.getByRole('button').allTextContents()).filter((text) => !text.endsWith(' 0'))).toEqual([
		'Moderate 101–200 1',
		'Not reporting 2',
	]);
	await pictured(page, 'air-stale');
	await legend.getByRole('button', { name: 'Not reporting' }).click();
	await expect.poll(() => items.count()).toBe(2);
	expect(new URL(page.url()).searchParams.get('category')).toBe('none');
	expect(faults).toEqual([]);
});

/** silentBadge is the image of a city without current data, as query/public draws it. */
const silentBadge = `<svg xmlns="http://www.w3.org/2000/svg" width="171" height="20"><rect width="171" height="20" fill="#333"/>
	<g font-family="sans-serif" font-size="11" fill="#fff"><text x="6" y="14">Delhi AQI</text><text x="77" y="14">no current data</text></g></svg>`;

test('the page of a city does not call figures of another month the present', async () => {
	const { page } = await signedIn('/compare');
	const record = await ask<Schemas['DetailedRecord']>('/v1/aqi?city=Delhi&view=detail');
	const updated = new Date(Date.now() - 125 * day).toISOString();
	const stations = record.stations.map((station) => ({ ...station, updated }));
	await page.route('**/dashboard/v1/aqi?*view=detail*', (route) => route.fulfill({ json: { ...record, updated, stale: true, stations } }));
	// Nothing of the page is newer: hours, days, and the image of the public page.
	await page.route('**/dashboard/v1/aqi?*interval=*', async (route) => {
		const query = new URL(route.request().url()).searchParams;
		const [from, to, interval] = ['from', 'to', 'interval'].map((name) => query.get(name));
		await route.fulfill({ json: { status: 'success', city: 'Delhi', from, to, interval, records: [] } });
	});
	const cities = await ask<{ data: Schemas['City'][] }>('/v1/cities?q=Delhi');
	const data = cities.data.map((city) => ({ ...city, updated, stale: true, first_day: '2015-07-10', last_day: updated.slice(0, 10) }));
	await page.route('**/dashboard/v1/cities?*', (route) => route.fulfill({ json: { ...cities, data } }));
	await page.route('**/badge.svg', (route) => route.fulfill({ contentType: 'image/svg+xml', body: silentBadge }));
	await page.goto('/dashboard/air/Delhi');
	await page.getByRole('heading', { name: 'Last reported 125 days ago' }).waitFor();
	await page.getByText('It does not show current air quality.').waitFor();
	expect(await page.getByRole('heading', { name: 'Now' }).count()).toBe(0);
	expect(await page.locator('.current .index').getAttribute('class')).toContain('stale');
	await pictured(page, 'air-city-stale');
});
