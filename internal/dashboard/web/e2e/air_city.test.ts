import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { step } from '../src/air/days';
import { sourceName } from '../src/air/sourceTexts';
import type { Schemas } from '../src/api/client';
import { concentration, dayBefore, type Entry, facts, number, pastStored, range, rows, same, showTable, stamps, whole, word } from './air';
import { ask, pictured, signedIn } from './browser';

type Detail = Schemas['DetailedRecord'];

/** shown returns every figure of a place's record that the page shows. */
async function shown(page: Page): Promise<string[]> {
	return [
		...(await page.locator('.current .index').allTextContents()),
		...(await page.locator('.health').allTextContents()),
		...(await facts(page.locator('main'))),
		...(await page.getByText('Stations used').allTextContents()),
		...(await rows(page.getByRole('region', { name: 'Pollutants' }))),
		...(await rows(page.getByRole('region', { name: 'Stations' }))),
	];
}

const pollutants = { pm25: 'PM2.5', pm10: 'PM10', no2: 'NO₂', so2: 'SO₂', co: 'CO', o3: 'O₃' } as const;

/** expectedLines returns the same lines for the record of the API; past is a record of a past day. */
function expectedLines(record: Detail, past: boolean): string[] {
	const subs: Readonly<Record<string, number>> = record.sub_indices;
	const sub = (id: string) => (subs[id] === undefined ? '–' : `${subs[id]}${word(subs[id])}`);
	const note = (id: string) => (record.estimated.length === 0 ? [] : [record.estimated.some((one) => one === id) ? 'estimated' : '']);
	const mean =
		record.pincode || record.stations_used < 2
			? ''
			: ' The AQI of the city is the mean of the AQIs of its stations. So it can differ from its highest sub-index.';
	const ids = Object.keys(pollutants) as (keyof typeof pollutants)[];
	return [
		`${record.aqi} ${record.category}`,
		record.health,
		`Main pollutant: ${record.dominant}`,
		`${past ? 'Data until' : 'Updated'}: ${record.updated}`,
		`State: ${record.state}`,
		...(record.pincode ? [`Pin code: ${record.pincode}`, `City: ${record.city}`] : []),
		...(record.distance_km === undefined ? [] : [`Nearest station: ${record.distance_km.toFixed(1)} km`]),
		`Data from: ${record.attribution.join('; ')}`,
		`Source: ${record.source.map(sourceName).join(', ')}`,
		`Stations used: ${record.stations_used} of ${record.stations_total}.${mean}`,
		...ids.map((id) => {
			const amount = record[id];
			const written = amount === null ? 'not measured' : `${concentration(amount)} ${record.units[id]}`;
			return [pollutants[id], written, record.averaging[id] === '8h' ? '8 hours' : '24 hours', sub(id), ...note(id)].join(' | ');
		}),
		...(['nh3', 'pb'] as const)
			.filter((id) => subs[id] !== undefined || record[id] !== undefined)
			.map((id) => {
				const amount = record[id];
				const written = amount === undefined ? ['–', '–'] : [`${concentration(amount)} ${record.units[id]}`, '24 hours'];
				return [id === 'nh3' ? 'NH₃' : 'Pb', ...written, sub(id), ...note(id)].join(' | ');
			}),
		...record.stations.map(
			({ name, aqi, distance_km, updated }) =>
				`${name} | ${aqi ?? '–'} ${aqi === null ? 'no AQI' : word(aqi)} | ${distance_km?.toFixed(1)} km | ${updated}`,
		),
	];
}

/** answers requests a record from the API and returns the lines that the page should show. */
async function answers(query: string): Promise<string[]> {
	return expectedLines(await ask<Detail>(`/v1/aqi?${query}&view=detail`), query.includes('&date='));
}

test('the page of a city shows every figure of its record, and no others', async () => {
	const { page, faults } = await signedIn('/air/Delhi');
	await same(
		() => shown(page),
		() => answers('city=Delhi'),
	);
	const time = page.locator('.current dd time');
	const at = (await time.getAttribute('datetime')) ?? '';
	expect(await time.getAttribute('title')).toBe(at);
	expect(await time.textContent()).toBe(
		await page.evaluate(
			(moment) =>
				`${new Intl.DateTimeFormat('en-IN', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'Asia/Kolkata' }).format(new Date(moment))} IST`,
			at,
		),
	);
	await page.getByRole('grid', { name: 'Calendar' }).waitFor();
	await page.getByRole('img', { name: 'Index (AQI)' }).waitFor();
	await pictured(page, 'air-city');
	expect(faults).toEqual([]);
});

test('the pages of a homonym and of a pin code show their records', async () => {
	const { page, faults } = await signedIn('/air/Aurangabad,%20Maharashtra');
	await same(
		() => shown(page),
		() => answers('city=Aurangabad,%20Maharashtra'),
	);
	await page.goto('/dashboard/pin/411001');
	await same(
		() => shown(page),
		() => answers('pincode=411001'),
	);
	const add = page.getByRole('link', { name: 'Add alert' });
	expect(await add.getAttribute('href')).toBe('/dashboard/alerts/new?pincode=411001');
	await page.locator('.current').getByRole('link', { name: 'Pune' }).click();
	await page.getByRole('heading', { level: 1, name: 'Pune' }).waitFor();
	expect(faults).toEqual([]);
});

/** listed returns the rows that the table beside a chart should show, the newest first. */
async function listed(page: Page, entries: Entry[], value: (entry: Entry) => string): Promise<string[]> {
	const at = await stamps(page, entries);
	return entries.map((entry, i) => `${at[i]} | ${value(entry)}`).reverse();
}

const index = ({ aqi, category }: Entry) => `${aqi} ${category}`;

/** day returns the last 24 hours of a city. */
async function day(): Promise<Entry[]> {
	const entries = await range('Mumbai', 1, 'hour');
	const last = Math.max(...entries.map(({ updated }) => Date.parse(updated)));
	return entries.filter(({ updated }) => Date.parse(updated) > last - 86_400_000);
}

test('each chart has a table with the same figures, and both match the range of the API', async () => {
	const { page, faults } = await signedIn('/air/Mumbai');
	await showTable(page);
	const table = async () => rows(await whole(page));
	// A new service stores its history while it already serves.
	await expect.poll(async () => (await day()).length, { timeout: 120_000 }).toBe(24);
	await same(table, async () => listed(page, await day(), index));
	const last = (await day()).at(-1);
	await page.getByRole('img', { name: `last ${last?.aqi}.` }).waitFor();

	await page.getByLabel('Metric', { exact: true }).selectOption('pm25');
	await same(table, async () => listed(page, await day(), ({ pm25 }) => (pm25 === null ? '–' : number(pm25))));
	await page.getByRole('img', { name: 'PM2.5, µg/m³' }).waitFor();
	await page.getByLabel('Metric', { exact: true }).selectOption('aqi');

	await page.getByRole('button', { name: '30 days' }).click();
	await page.getByLabel('Interval').selectOption('day');
	await page.getByRole('img', { name: '30 days' }).waitFor();
	expect(page.url()).toContain('span=30d&by=day');
	await page.getByRole('button', { name: 'Hide table' }).waitFor();
	await page.locator('.figures').getByRole('table').waitFor();
	await page.reload();
	await showTable(page);
	await same(table, async () => listed(page, await range('Mumbai', 29, 'day'), index));
	expect(faults).toEqual([]);
});

test('thirty days of hours and a year of days are complete', async () => {
	const { page } = await signedIn('/air/Mumbai?span=30d');
	await showTable(page);
	const table = async () => rows(await whole(page));
	await same(table, async () => listed(page, await range('Mumbai', 29, 'hour'), index));
	await page.goto('/dashboard/air/Mumbai?span=1y');
	await showTable(page);
	await same(table, async () => listed(page, await range('Mumbai', 364, 'day'), index));
});

test('arrow keys move through the calendar, and Enter shows the record of a day', async () => {
	const { page, faults } = await signedIn('/air/Pune');
	const grid = page.getByRole('grid', { name: 'Calendar' });
	await grid.waitFor();
	const days = () =>
		grid.locator('button').evaluateAll((all) =>
			all
				.filter((one) => one.textContent)
				.map((one) => `${(one as HTMLElement).dataset.date} ${one.textContent} ${one.getAttribute('aria-label')?.split(': ')[1]}`)
				.sort(),
		);
	await same(days, async () =>
		(await range('Pune', 364, 'day')).map(({ date, aqi, category }) => `${date} ${aqi} ${aqi}, ${category}`).sort(),
	);

	const focused = () => page.evaluate(() => (document.activeElement as HTMLElement).dataset.date);
	const inOrder = grid.locator('button[tabindex="0"]');
	expect(await inOrder.count()).toBe(1);
	await inOrder.focus();
	let at = dayBefore(0);
	for (const key of ['ArrowUp', 'ArrowLeft', 'ArrowDown', 'Home', 'ArrowLeft', 'End', 'ArrowUp'] as const) {
		await page.keyboard.press(key);
		const before = at;
		await expect.poll(async () => (await focused()) === step(key, before, dayBefore(364), dayBefore(0)), { message: key }).toBe(true);
		at = (await focused()) ?? '';
		expect(await inOrder.count()).toBe(1);
	}
	await page.keyboard.press('Enter');
	await page.getByRole('heading', { name: /^On / }).waitFor();
	expect(new URL(page.url()).searchParams.get('date')).toBe(dayBefore(1));
	await same(
		() => shown(page),
		() => answers(`city=Pune&date=${dayBefore(1)}`),
	);
	expect(await grid.locator('button[aria-current="date"]').getAttribute('data-date')).toBe(dayBefore(1));
	await page.getByRole('button', { name: 'Back to now' }).click();
	await same(
		() => shown(page),
		() => answers('city=Pune'),
	);
	expect(faults).toEqual([]);
});

test('the calendar starts scrolled to its newest days at every width, also after a resize', async () => {
	const { page } = await signedIn('/air/Pune');
	const newest = page.locator(`.calendar [data-date="${dayBefore(0)}"]`);
	const seen = () =>
		newest.evaluate((day) => {
			const [box, around] = [day.getBoundingClientRect(), day.closest('.scroll')?.getBoundingClientRect()];
			return around !== undefined && box.left >= around.left && box.right <= around.right + 1;
		});
	// What of the calendar is cut at rest: a week or the name of a month, by the weekdays or by the right edge.
	const cut = () =>
		page.locator('.calendar').evaluate((calendar) => {
			const end = calendar.closest('.scroll')?.getBoundingClientRect().right ?? 0;
			const start = calendar.querySelector('[scope="row"]')?.getBoundingClientRect().right ?? 0;
			return [...calendar.querySelectorAll('tr:nth-child(2) td, [scope="colgroup"] span:not(.unseen)')]
				.filter((one) => getComputedStyle(one).visibility === 'visible')
				.map((one) => ({ text: one.textContent, box: one.getBoundingClientRect() }))
				.filter(({ box }) => (box.left < start - 1 && box.right > start + 1) || (box.right > end + 1 && box.left < end - 1))
				.map(({ text, box }) => `${text} at ${Math.round(box.left - start)} px`);
		});
	const hint = page.getByText('to see other weeks');
	await newest.waitFor();
	expect(await hint.count()).toBe(0);
	for (const width of [360, 390, 412, 600]) {
		await page.setViewportSize({ width, height: 740 });
		await expect.poll(seen, { message: `${width} px` }).toBe(true);
		await expect.poll(cut, { message: `${width} px`, timeout: 10_000 }).toEqual([]);
		expect(await hint.count(), `hint at ${width} px`).toBe(1);
	}
	await page.setViewportSize({ width: 360, height: 740 });
	await page.reload();
	await newest.waitFor();
	await expect.poll(seen).toBe(true);
	// After a swipe the calendar rests on whole weeks, too.
	const frame = page.locator('.scroll', { has: page.getByRole('grid', { name: 'Calendar' }) });
	for (const by of [-70, -130, -45]) {
		const before = await frame.evaluate((one) => one.scrollLeft);
		await frame.evaluate((one, left) => one.scrollBy({ left, behavior: 'instant' }), by);
		expect(await frame.evaluate((one) => one.scrollLeft)).toBeLessThan(before);
		await expect.poll(cut, { message: `scrolled by ${by} px`, timeout: 10_000 }).toEqual([]);
	}
});

test('every stored day can be reached: by a range, by a year, and from a day of the calendar', async () => {
	const { page, faults } = await signedIn('/air/Pune');
	await page.getByRole('button', { name: 'Custom' }).click();
	await page.getByLabel('From', { exact: true }).fill(dayBefore(5));
	await page.getByLabel('From', { exact: true }).press('Enter');
	await page.getByLabel('To', { exact: true }).fill(dayBefore(1));
	await page.getByLabel('To', { exact: true }).press('Enter');
	await expect.poll(() => page.url()).toContain(`from=${dayBefore(5)}&to=${dayBefore(1)}`);
	await page.getByLabel('Interval').selectOption('day');
	await showTable(page);
	const table = async () => rows(await whole(page));
	const five = async () => (await range('Pune', 5, 'day')).filter(({ date = '' }) => date <= dayBefore(1));
	// A new service stores its simulated days over some minutes.
	await expect.poll(async () => (await five()).length, { timeout: 240_000, interval: 2000 }).toBe(5);
	await same(table, async () => listed(page, await five(), index));

	const year = page.getByLabel('Year', { exact: true });
	const first = (await year.locator('option').last().getAttribute('value')) ?? '';
	await year.selectOption(first);
	await expect.poll(() => page.locator(`.calendar [data-date^="${first}-"]`).count()).toBeGreaterThan(0);
	expect(page.url()).toContain(`year=${first}`);
	await page.getByRole('button', { name: 'Next year' }).click();
	await expect.poll(() => year.inputValue()).toBe('');

	await page.locator(`.calendar [data-date="${dayBefore(3)}"]`).click();
	await page.getByRole('heading', { name: /^On / }).waitFor();
	await expect.poll(() => page.evaluate(() => document.activeElement?.className)).toContain('record');
	await pictured(page, 'air-day');
	expect(faults).toEqual([]);
});

test('a day without figures shows a message that names the first day with figures', { timeout: 1_200_000 }, async () => {
	await pastStored();
	const { page } = await signedIn(`/air/Pune?date=${dayBefore(364)}`);
	const [date] = await page.evaluate(
		(day) => [new Intl.DateTimeFormat('en-IN', { dateStyle: 'medium' }).format(new Date(`${day}T12:00:00`))],
		dayBefore(364),
	);
	const empty = page.getByRole('group', { name: `On ${date}` });
	await empty.getByText(`No data for ${date}`).waitFor();
	// The sentence agrees with the calendar: a later first day of it is in the sentence.
	await expect
		.poll(async () => {
			const [first] = await page
				.locator('.calendar button')
				.evaluateAll((all) => all.flatMap((one) => (one.textContent ? ((one as HTMLElement).dataset.date ?? []) : [])).sort());
			const [named] = await page.evaluate(
				(days) => days.map((one) => new Intl.DateTimeFormat('en-IN', { dateStyle: 'medium' }).format(new Date(`${one}T12:00:00`))),
				first ? [first] : [],
			);
			const sentence = (await empty.getByText('Pune has readings from').textContent())?.replaceAll('\u00a0', ' ') ?? '';
			return (
				named !== undefined && (sentence.includes(`readings from ${named} to`) || sentence.includes(`first day with an AQI is ${named}.`))
			);
		})
		.toBe(true);
	await page.getByRole('img', { name: /^By day of the week/ }).waitFor();
	await pictured(page, 'air-noday');
	await page.getByRole('button', { name: 'Back to now' }).click();
	await page.getByRole('heading', { name: 'Now' }).waitFor();
	expect(new URL(page.url()).searchParams.get('date')).toBeNull();
});
