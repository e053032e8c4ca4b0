import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Schemas } from '../src/api/client';
import { dayBefore, range } from './air';
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

/** cardOf returns the card of a heading. */
function cardOf(page: Page, heading: string): Locator {
	return page.locator('.card', { has: page.getByRole('heading', { name: heading, exact: true }) });
}

/** silentBadge is the image of a city without current data, as query/public draws it. */
const silentBadge = `<svg xmlns="http://www.w3.org/2000/svg" width="171" height="20"><rect width="171" height="20" fill="#333"/>
	<g font-family="sans-serif" font-size="11" fill="#fff"><text x="6" y="14">Delhi AQI</text><text x="77" y="14">no current data</text></g></svg>`;

// Eighteen weeks, so that days of the week are the same.
const silence = 126;

/** shifted returns a date a number of days later. */
function shifted(date: string, days: number): string {
	return new Date(Date.parse(date) + days * day).toISOString().slice(0, 10);
}

/** silent makes the API return the air of Delhi as if nothing had reported since then: every answer is as many days older. */
async function silent(page: Page): Promise<void> {
	const earlier = (time: string) => new Date(Date.parse(time) - silence * day).toISOString();
	const record = await ask<Schemas['DetailedRecord']>('/v1/aqi?city=Delhi&view=detail');
	const updated = earlier(record.updated);
	const stations = record.stations.map((station) => ({ ...station, updated: earlier(station.updated) }));
	await page.route('**/dashboard/v1/aqi?*view=detail*', (route) => route.fulfill({ json: { ...record, updated, stale: true, stations } }));
	await page.route('**/dashboard/v1/aqi?*interval=*', async (route) => {
		const query = new URL(route.request().url()).searchParams;
		const [from = '', to = '', interval] = ['from', 'to', 'interval'].map((name) => query.get(name) ?? '');
		const answered = { status: 'success', city: 'Delhi', from, to, interval };
		const [first, last] = [shifted(from, silence), shifted(to, silence)];
		const [end = ''] = [last, dayBefore(0)].sort();
		const reply =
			first > end ? {} : await ask<{ records?: Schemas['Record'][] }>(`/v1/aqi?city=Delhi&from=${first}&to=${end}&interval=${interval}`);
		const records = (reply.records ?? []).map((one) => ({
			...one,
			updated: earlier(one.updated),
			...(one.date && { date: shifted(one.date, -silence) }),
		}));
		await route.fulfill({ json: { ...answered, records } });
	});
	await page.route('**/dashboard/v1/cities?*', async (route) => {
		const cities = await ask<{ data: Schemas['City'][] }>('/v1/cities?q=Delhi');
		const data = cities.data.map((city) => ({
			...{ ...city, updated, stale: true },
			...{ first_day: shifted(city.first_day, -silence), last_day: shifted(city.last_day, -silence) },
		}));
		await route.fulfill({ json: { ...cities, data } });
	});
	await page.route('**/badge.svg', (route) => route.fulfill({ contentType: 'image/svg+xml', body: silentBadge }));
}

test('the page of a city does not call figures of another month the present', async () => {
	const { page } = await signedIn('/compare');
	// A new service stores its simulated days over some minutes.
	await expect.poll(async () => (await range('Delhi', 7, 'day')).length, { timeout: 240_000, interval: 2000 }).toBe(8);
	await silent(page);
	await page.goto('/dashboard/air/Delhi');
	await page.getByRole('heading', { name: `Last reported ${silence} days ago` }).waitFor();
	await page.getByText('It does not show current air quality.').waitFor();
	expect(await page.getByRole('heading', { name: 'Now' }).count()).toBe(0);
	expect(await page.locator('.current .index').getAttribute('class')).toContain('stale');
	// The calendar has the days until then. Only the last 24 hours are empty, and lead to the last day.
	const calendar = cardOf(page, 'Calendar');
	const newest = calendar.locator(`[data-date="${dayBefore(silence)}"]`);
	await calendar.scrollIntoViewIfNeeded();
	await expect.poll(() => newest.textContent()).toMatch(/^\d+$/);
	await cardOf(page, 'Over time')
		.getByRole('button', { name: /^Show / })
		.waitFor();
	expect(await page.getByText(/^No data for /).count()).toBe(1);
	// On a phone the calendar begins there, too.
	await page.setViewportSize({ width: 360, height: 740 });
	await expect
		.poll(() =>
			newest.evaluate((one) => {
				const [box, around] = [one.getBoundingClientRect(), one.closest('.scroll')?.getBoundingClientRect()];
				return around !== undefined && box.left > around.left && box.right < around.right;
			}),
		)
		.toBe(true);
	await pictured(page, 'air-city-stale');
});
