import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Schemas } from '../src/api/client';
import { same } from './air';
import { ask, pictured, signedIn } from './browser';

type City = Schemas['City'];
type Station = Schemas['Station'];

/** everything returns all entries of a list of the sandbox API. */
async function everything<T>(path: string): Promise<T[]> {
	const found: T[] = [];
	let cursor = '';
	do {
		const page = await ask<{ data: T[]; next_cursor: string | null }>(`${path}?limit=1000${cursor}`);
		found.push(...page.data);
		cursor = page.next_cursor ? `&cursor=${page.next_cursor}` : '';
	} while (cursor);
	return found;
}

/** expectedLines returns the lines that the list beside the map should show for places. */
function expectedLines(places: readonly (City | Station)[]): string[] {
	const beside = (name: string, state: string) => (name === state || name.endsWith(`, ${state}`) ? '' : state);
	return places.map(({ name, state, aqi, category }) => `${aqi ?? '–'} ${category ?? 'no AQI'} | ${name} ${beside(name, state)}`);
}

/** listed returns the lines that the list shows. */
function listed(page: Page): Promise<string[]> {
	return page
		.getByRole('list', { name: 'Places' })
		.getByRole('listitem')
		.evaluateAll((items) =>
			items.map((item) => {
				const name = item.querySelector('.place-name')?.cloneNode(true) as Element | undefined;
				name?.querySelector('.last')?.remove(); // how old the figures are
				return `${item.querySelector('.index')?.textContent} | ${name?.textContent}`;
			}),
		);
}

const names = new Intl.Collator('en-IN');

/**
 * byIndex sorts places by index: the highest first, or the lowest first if sign is -1. Places that do not report come
 * last. Some simulated stations have gaps.
 */
function byIndex<T extends City | Station>(places: readonly T[], sign = 1): T[] {
	const rank = ({ stale, aqi }: T) => (stale ? Number.NEGATIVE_INFINITY : sign * (aqi ?? 0));
	return places.toSorted((a, b) => (rank(a) === rank(b) ? names.compare(a.name, b.name) : rank(b) - rank(a)));
}

/** reporting returns the number of places whose figures show the present air. */
function reporting(places: readonly (City | Station)[]): number {
	return places.filter(({ stale }) => !stale).length;
}

/** agrees waits until the list shows what the API returns. */
async function agrees(page: Page, want: () => Promise<string[]>): Promise<void> {
	await same(() => listed(page), want);
}

const cities = () => everything<City>('/v1/cities');

/** zoom returns the magnification of the map: 1 shows all of India. */
async function zoom(page: Page): Promise<number> {
	const box = await page.getByRole('application').locator('svg').getAttribute('viewBox');
	return 612 / Number(box?.split(' ')[2]);
}

test('cities are listed with the figures and category names of the API, in three orders', async () => {
	const { page, faults } = await signedIn();
	await agrees(page, async () => expectedLines(byIndex(await cities())));
	await page.getByText(new RegExp(`(Cities|Reporting): ${reporting(await cities())}\\.`)).waitFor();
	await pictured(page, 'air-map');
	const order = page.getByLabel('Sort', { exact: true });
	await order.selectOption('best');
	await agrees(page, async () => expectedLines(byIndex(await cities(), -1)));
	await order.selectOption('name');
	await agrees(page, async () => expectedLines((await cities()).toSorted((a, b) => names.compare(a.name, b.name))));
	expect(page.url()).toContain('order=name');
	await page.goBack();
	await agrees(page, async () => expectedLines(byIndex(await cities(), -1)));
	expect(faults).toEqual([]);
});

test('every city with a position is on the map, in the colour of its category', async () => {
	const { page } = await signedIn('/?state=Kerala');
	const kerala = async () => (await cities()).filter(({ state }) => state === 'Kerala');
	await agrees(page, async () => expectedLines(byIndex(await kerala())));
	await expect.poll(() => zoom(page)).toBeGreaterThan(2.2); // large enough that marks contain figures
	// Cities that are close to each other share a mark. A closer view has one for each, also outside its part of the map.
	const several = page.locator('.mark.several');
	const closer = page.getByRole('button', { name: 'Zoom in' });
	while ((await several.count()) > 0) {
		await closer.click();
	}
	const marks = () =>
		page
			.locator('.mark')
			.evaluateAll((all) => all.map((mark) => `${mark.querySelector('text')?.textContent} ${mark.getAttribute('class')}`));
	const bestFirst = async () => byIndex(await kerala()).reverse();
	await same(marks, async () =>
		(await bestFirst()).map(({ aqi, category }) => `${aqi} mark aqi-${category?.toLowerCase().replace(' ', '-')}`),
	);
	await page.reload();
	const alone = page.locator('.mark:not(.several)').last();
	const id = await alone.getAttribute('data-place');
	await alone.hover();
	const shown = async () => (await kerala()).find(({ name }) => name === id);
	await same(
		() => page.locator('.named text').allTextContents(),
		async () => [`${id}${(await shown())?.aqi} ${(await shown())?.category}`],
	);
	await alone.click();
	await page
		.locator('.chosen')
		.getByRole('link', { name: `Open ${id}` })
		.waitFor();
	expect(new URL(page.url()).searchParams.get('at')).toBe(id);

	await page.goto('/dashboard/');
	await agrees(page, async () => expectedLines(byIndex(await cities())));
	// The numbers on the marks add up, and no two marks overlap.
	const circles = await page.locator('.mark').evaluateAll((all) =>
		all.map((mark) => {
			const { left, right, top, bottom } = mark.querySelector('circle')?.getBoundingClientRect() ?? new DOMRect();
			const count = mark.matches('.several') ? Number(mark.textContent?.replace('×', '')) : 1;
			return { count, x: (left + right) / 2, y: (top + bottom) / 2, radius: (right - left) / 2 };
		}),
	);
	expect(circles.reduce((sum, { count }) => sum + count, 0)).toBe((await cities()).filter(({ latitude }) => latitude !== null).length);
	const over = circles.filter((one, i) =>
		circles.slice(i + 1).some((other) => Math.hypot(one.x - other.x, one.y - other.y) < one.radius + other.radius),
	);
	expect(over).toEqual([]);
	// A mark of several places shows them apart.
	const before = await zoom(page);
	await several.last().click();
	await expect.poll(() => zoom(page)).toBeGreaterThan(before);
});

test('stations are a separate layer', async () => {
	const { page, faults } = await signedIn();
	await page.getByRole('button', { name: 'Stations' }).click();
	const stations = () => everything<Station>('/v1/stations');
	await agrees(page, async () => expectedLines(byIndex(await stations()).slice(0, 100)));
	await page.getByText(new RegExp(`(Stations|Reporting): ${reporting(await stations())}\\.`)).waitFor();
	await pictured(page, 'air-stations');
	await page.getByRole('button', { name: 'Show more' }).click();
	await agrees(page, async () => expectedLines(byIndex(await stations())));
	const [worst] = byIndex(await stations());
	await page.getByRole('list', { name: 'Places' }).getByRole('button').first().click();
	await page
		.getByRole('status')
		.filter({ hasText: worst?.attribution ?? 'nothing' })
		.waitFor();
	await page.getByRole('button', { name: 'Cities' }).click();
	await agrees(page, async () => expectedLines(byIndex(await cities())));
	expect(faults).toEqual([]);
});

test('states have their Hindi names on both maps, in the choice and in the list', async () => {
	const { page, faults } = await signedIn();
	await page.getByRole('navigation', { name: 'Main' }).getByLabel('Language').selectOption('hi');
	const choice = page.getByLabel('राज्य', { exact: true });
	await choice.selectOption({ label: 'महाराष्ट्र' });
	expect(new URL(page.url()).searchParams.get('state')).toBe('Maharashtra');
	const list = page.getByRole('list').filter({ has: page.locator('.hint', { hasText: 'महाराष्ट्र' }) });
	await list.first().waitFor();
	expect(await page.locator('.states path.on title').textContent()).toBe('महाराष्ट्र');
	const texts = await choice.locator('option').allTextContents();
	expect(texts.slice(1)).toEqual(texts.slice(1).toSorted(new Intl.Collator('hi-IN').compare));
	await pictured(page, 'air-states-hindi');
	expect(faults).toEqual([]);
});

test('cities have their Hindi names on the map, in the list, in the search and as headings', async () => {
	const { page, faults } = await signedIn();
	await page.getByRole('navigation', { name: 'Main' }).getByLabel('Language').selectOption('hi');
	await page.getByRole('button', { name: 'पुणे' }).first().waitFor();
	const search = page.locator('input[role=combobox]').first();
	await search.fill('पुणे');
	await page.getByRole('option', { name: 'पुणे' }).first().waitFor();
	await pictured(page, 'air-cities-hindi');
	await page.getByRole('option', { name: 'पुणे' }).first().click();
	await page.waitForURL('**/air/Pune');
	await page.getByRole('heading', { level: 1, name: 'पुणे' }).waitFor();
	await page.goto('/dashboard/rankings');
	await page.getByRole('link', { name: 'पुणे' }).first().waitFor();
	await pictured(page, 'rankings-cities-hindi');
	await page.goto('/dashboard/compare?city=Pune');
	await page.getByRole('button', { name: 'पुणे हटाएँ' }).waitFor();
	await page.getByRole('img', { name: /^पुणे, / }).waitFor();
	await page.goto('/dashboard/rankings');
	await page.getByLabel('भाषा').selectOption('en');
	await page.getByRole('link', { name: 'Pune' }).first().waitFor();
	expect(faults).toEqual([]);
});

test('states and categories filter the list, and the address keeps the filters', async () => {
	const { page } = await signedIn();
	await page.getByLabel('State', { exact: true }).selectOption('Maharashtra');
	const there = async () => byIndex(await cities()).filter(({ state }) => state === 'Maharashtra');
	await agrees(page, async () => expectedLines(await there()));
	const category = (await there())[0]?.category;
	const only = async () => expectedLines((await there()).filter((city) => city.category === category));
	await page.getByLabel('Category', { exact: true }).selectOption(category ?? '');
	await agrees(page, only);
	await page.reload();
	await agrees(page, only);
	const legend = page.getByRole('list', { name: 'AQI categories' });
	const chosen = legend.getByRole('button', { pressed: true });
	expect(await chosen.count()).toBe(1);
	expect(await chosen.textContent()).toMatch(new RegExp(`^${category} .+ ${(await only()).length}$`));
	await chosen.click();
	await agrees(page, async () => expectedLines(await there()));
	const none = (await legend.getByRole('button').allTextContents()).findIndex((text) => text.endsWith(' 0'));
	await legend.getByRole('button').nth(none).click();
	await page.getByText('No matching places').waitFor();
});

test('the map moves by its buttons, by arrow keys and by states', async () => {
	const { page } = await signedIn();
	await page.getByRole('list', { name: 'Places' }).waitFor();
	expect(await zoom(page)).toBeCloseTo(1);
	await page.getByRole('button', { name: 'Zoom in' }).focus();
	await page.keyboard.press('Enter');
	await expect.poll(() => zoom(page)).toBeCloseTo(1.6);
	const box = () => page.getByRole('application').locator('svg').getAttribute('viewBox');
	const before = await box();
	await page.getByRole('button', { name: 'Move right' }).focus();
	await page.keyboard.press('Space');
	await expect.poll(box).not.toBe(before);
	await page.getByRole('button', { name: 'Zoom out' }).focus();
	await page.keyboard.press('Enter');
	await expect.poll(() => zoom(page)).toBeCloseTo(1);

	await page.getByRole('application').focus();
	await page.keyboard.press('+');
	await page.keyboard.press('+');
	await expect.poll(() => zoom(page)).toBeCloseTo(2.56);
	const middle = await box();
	await page.keyboard.press('ArrowUp');
	await expect.poll(box).not.toBe(middle);
	await page.keyboard.press('ArrowDown');
	await expect.poll(box).toBe(middle);
	await page.keyboard.press('0');
	await expect.poll(() => zoom(page)).toBeCloseTo(1);

	await page.getByLabel('State', { exact: true }).selectOption('Kerala');
	await expect.poll(() => zoom(page)).toBeGreaterThan(2);
	await page.getByRole('button', { name: 'All of India' }).click();
	await expect.poll(() => zoom(page)).toBeCloseTo(1);
	expect(new URL(page.url()).searchParams.get('state')).toBeNull();
	await page.getByRole('application').locator('path', { hasText: 'Rajasthan' }).dispatchEvent('click');
	await expect.poll(() => page.getByLabel('State', { exact: true }).inputValue()).toBe('Rajasthan');
});
