import type { Page } from 'playwright-core';
import { expect, inject, test } from 'vitest';
import type { Schemas } from '../src/api/client';
import { concentration, type Entry, number, range, rows, same, stamps, whole } from './air';
import { ask, pictured, signedIn } from './browser';
import { command } from './service';

/** add adds a city to the comparison through the search. */
async function add(page: Page, name: string): Promise<void> {
	await page.getByRole('combobox', { name: 'Add a city' }).fill(name);
	const option = page.getByRole('listbox', { name: 'Add a city' }).getByRole('option', { name });
	await option.first().waitFor();
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('Enter');
	await page.getByRole('button', { name: `Remove ${name}` }).waitFor();
}

/** compared returns the cities in the address. */
function compared(page: Page): string[] {
	return new URL(page.url()).searchParams.getAll('city');
}

const pollutants = ['pm25', 'pm10', 'no2', 'so2', 'co', 'o3'] as const;

/** expectedRow returns the row of a city in the table of present figures. The time is in words, so it is left out. */
async function expectedRow(city: string): Promise<string> {
	const record = await ask<Schemas['DetailedRecord']>(`/v1/aqi?city=${encodeURIComponent(city)}&view=detail`);
	return [
		` ${city}`,
		`${record.aqi} ${record.category}`,
		record.dominant,
		...pollutants.map((id) => {
			const amount = record[id];
			return amount === null ? '–' : `${concentration(amount)}${record.estimated.includes(id) ? ' estimated' : ''}`;
		}),
		record.updated,
		'Remove',
	].join(' | ');
}

/** presentRows returns the rows of the table of present figures. */
function presentRows(page: Page): Promise<string[]> {
	return rows(page.getByRole('region', { name: 'Compare cities' }));
}

test('four cities are compared, and the address keeps them', async () => {
	const { page, faults } = await signedIn('/compare');
	await page.getByText('No cities selected').waitFor();
	const cities = ['Delhi', 'Mumbai', 'Pune', 'Kolkata'];
	for (const city of cities) {
		await add(page, city);
	}
	expect(compared(page)).toEqual(cities);
	await page.reload();
	await same(
		() => presentRows(page),
		() => Promise.all(cities.map(expectedRow)),
	);
	await page.getByLabel('Metric', { exact: true }).selectOption('pm25');
	await page.getByRole('button', { name: '30 days' }).click();
	await page.getByLabel('Interval').selectOption('day');
	await page.getByRole('img', { name: 'Kolkata' }).waitFor();
	await pictured(page, 'air-compare');
	await page.getByRole('button', { name: 'Show table' }).click();
	await same(
		async () => rows(await whole(page)),
		async () => {
			const all = await Promise.all(cities.map((city) => range(city, 29, 'day')));
			const days = all[0] ?? [];
			const at = await stamps(page, days);
			const value = (entry: Entry | undefined) => (entry && entry.pm25 !== null ? number(entry.pm25) : '–');
			return days.map(({ date }, i) => [at[i], ...all.map((one) => value(one.find((entry) => entry.date === date)))].join(' | ')).reverse();
		},
	);

	await page.getByRole('button', { name: 'Remove Mumbai' }).click();
	await expect.poll(() => compared(page)).toEqual(['Delhi', 'Pune', 'Kolkata']);
	await page.goBack();
	await expect.poll(() => compared(page)).toEqual(cities);
	expect(faults).toEqual([]);
});

test('a name that several cities share asks for a choice', async () => {
	const { page } = await signedIn('/compare?city=Aurangabad&city=Pune');
	await page.getByRole('list', { name: 'Did you mean' }).getByRole('button', { name: 'Aurangabad, Bihar' }).click();
	await expect.poll(() => compared(page)).toEqual(['Aurangabad, Bihar', 'Pune']);
	await same(
		() => presentRows(page),
		() => Promise.all(['Aurangabad, Bihar', 'Pune'].map(expectedRow)),
	);
});

test('a notice of new readings updates the figures', async () => {
	const { page } = await signedIn('/compare');
	let notify = () => {};
	const noticed = new Promise<void>((done) => {
		notify = done;
	});
	await page.route('**/dashboard/v1/live', async (route) => {
		await noticed;
		await route.fulfill({ contentType: 'text/event-stream', body: 'retry: 600000\nevent: air\ndata: {}\n\n' });
	});
	let aqi = 101;
	await page.route('**/dashboard/v1/cities?*', async (route) => {
		const reply = await route.fetch();
		const body = (await reply.json()) as { data: Schemas['City'][] };
		const data = body.data.map((city) => (city.name === 'Pune' ? { ...city, aqi, category: 'Moderate' } : city));
		await route.fulfill({ response: reply, json: { ...body, data } });
	});
	await page.goto('/dashboard/?state=Maharashtra');
	const list = page.getByRole('list', { name: 'Places' });
	await list.getByRole('button', { name: '101 Moderate Pune' }).waitFor();
	aqi = 199;
	notify();
	await list.getByRole('button', { name: '199 Moderate Pune' }).waitFor();
});

test('every air page names the scope that the key lacks', async () => {
	const made = await command(
		inject('data'),
		...['key', 'create', '--account', 'default', '--mode', 'sandbox', '--name', 'no air', '--scopes', 'account:read'],
	);
	const { page, faults } = await signedIn('/', /sk_test_\w{39}/.exec(made)?.[0] ?? '');
	const requested: string[] = [];
	page.on('request', (request) => requested.push(new URL(request.url()).pathname));
	await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
	expect(await page.getByRole('link', { name: 'Batches' }).count()).toBe(0);
	for (const path of ['/air/Delhi', '/pin/411001', '/compare?city=Delhi']) {
		await page.goto(`/dashboard${path}`);
		await page.getByText('Your key lacks the scope aqi:read').waitFor();
	}
	expect(requested.filter((path) => /\/v1\/(aqi|cities|stations)/.test(path))).toEqual([]);
	expect(await page.getByRole('link', { name: 'Compare cities' }).count()).toBe(0);
	await pictured(page, 'air-noscope');
	expect(faults).toEqual([]);
});

test('eight cities are compared, each with a line of its own, and no ninth can be added', async () => {
	const cities = ['Delhi', 'Mumbai', 'Pune', 'Kolkata', 'Chennai', 'Hyderabad', 'Lucknow', 'Patna'];
	const address = [...cities, 'Jaipur'].map((city) => `city=${city}`).join('&');
	const { page, faults } = await signedIn(`/compare?${address}`);
	await page.getByText('You can compare up to eight cities').waitFor();
	await expect.poll(async () => (await presentRows(page)).length).toBe(8);
	await page.getByRole('img', { name: 'Patna' }).waitFor();
	const colours = await page.locator('ul.legend .dash').evaluateAll((all) => all.map((dash) => getComputedStyle(dash).color));
	expect(new Set(colours).size).toBe(8);
	await pictured(page, 'air-compare-eight');
	expect(faults).toEqual([]);
});
