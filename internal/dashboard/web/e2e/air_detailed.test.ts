import type { Page } from 'playwright-core';
import { expect, inject, test } from 'vitest';
import type { Schemas } from '../src/api/client';
import { same } from './air';
import { accessible, ask, phone, pictured, signedIn } from './browser';

const still = { reducedMotion: 'reduce' } as const;
const detailed = '/?map=detailed';

async function everything<T>(path: string): Promise<T[]> {
	return (await ask<{ data: T[] }>(`${path}?limit=1000`)).data;
}

/** pins returns the texts of the marks, and groups the numbers of the groups. */
const pins = (page: Page) => page.locator('.detailed .pin:not(.group) > span').allTextContents();
const groups = (page: Page) => page.locator('.detailed .pin.group:not(.stale) > span').allTextContents();

/** total returns how many places that report are on the map, alone or in groups. */
async function total(page: Page): Promise<number> {
	const alone = await page.locator('.detailed .pin:not(.group):not(.stale)').count();
	return alone + (await groups(page)).reduce((sum, text) => sum + Number(text.slice(1)), 0);
}

test('the detailed map groups the cities that report, and opens a group', async () => {
	const { page, faults } = await signedIn('/', inject('sandbox'), inject('base'), still);
	const loaded: string[] = [];
	page.on('request', (request) => loaded.push(request.url()));
	await page.getByRole('list', { name: 'Places' }).waitFor();
	expect(loaded.filter((url) => url.includes('DetailedMap'))).toEqual([]);
	await page.getByRole('button', { name: 'Detailed map' }).click();
	await page.locator('.detailed .pin').first().waitFor();
	expect(new URL(page.url()).searchParams.get('map')).toBe('detailed');
	await same(
		async () => [String(await total(page))],
		async () => [String((await everything<Schemas['City']>('/v1/cities')).filter(({ stale }) => !stale).length)],
	);
	await pictured(page, 'air-detailed');
	const before = (await groups(page)).length;
	expect(before).toBeGreaterThan(0);
	const width = () => page.locator('.detailed .states').evaluate((one) => one.getBoundingClientRect().width);
	const whole = await width();
	// The southernmost group lies above its neighbours.
	const group = page.locator('.detailed .pin.group');
	const heights = await group.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().y));
	await group.nth(heights.indexOf(Math.max(...heights))).click();
	await expect.poll(width).toBeGreaterThan(whole);
	// Nothing comes from another host.
	expect(loaded.filter((url) => !url.startsWith(inject('base')) && !url.startsWith('data:'))).toEqual([]);
	expect(faults).toEqual([]);
});

test('a state, a place of the list and the keyboard move the detailed map', async () => {
	const { page, faults } = await signedIn(`${detailed}&state=Kerala`, inject('sandbox'), inject('base'), still);
	const kerala = async () => (await everything<Schemas['City']>('/v1/cities')).filter(({ state, stale }) => state === 'Kerala' && !stale);
	const list = page.getByRole('list', { name: 'Places' });
	await list.waitFor();
	// The marks are those of the list, with the same figures.
	await same(
		async () => (await pins(page)).filter((text) => text !== '–').sort(),
		async () => (await kerala()).map(({ aqi }) => String(aqi ?? '–')).sort(),
	);
	const first = list.getByRole('button').first();
	const name = (await first.locator('.place-name').textContent())?.replace(/ Kerala.*$/, '') ?? '';
	await first.focus();
	await page.keyboard.press('Enter');
	await page.locator('.detailed .chosen-pin b', { hasText: name }).waitFor();
	// The map moves until the chosen place, with its name, is in its middle. Then a mark with a name is inside the map.
	const away = () =>
		page.locator('.detailed-frame').evaluate((one) => {
			const [box, mark] = [one.getBoundingClientRect(), one.querySelector('.chosen-pin > span')?.getBoundingClientRect()];
			const [right, down] = [box.x + box.width / 2, box.y + box.height / 2];
			return mark ? Math.hypot(mark.x + mark.width / 2 - right, mark.y + mark.height / 2 - down) : Number.POSITIVE_INFINITY;
		});
	await expect.poll(away).toBeLessThan(12);
	const other = page
		.locator('.detailed .pin:not(.chosen-pin)', { has: page.locator('b') })
		.locator('> span')
		.first();
	await other.click();
	await expect.poll(() => new URL(page.url()).searchParams.get('at')).not.toBe(name);

	const frame = page.getByRole('application');
	const where = () => page.locator('.detailed .states').evaluate((one) => Math.round(one.getBoundingClientRect().width));
	await frame.focus();
	const wide = await where();
	await page.keyboard.press('+');
	await expect.poll(where).toBeGreaterThan(wide);
	await page.keyboard.press('0');
	await expect.poll(where).toBeLessThan(wide);
	const whole = await where();
	await page.getByRole('button', { name: 'Zoom in' }).focus();
	await page.keyboard.press('Enter');
	await expect.poll(where).toBeGreaterThan(whole);
	await page.getByRole('button', { name: 'All of India' }).click();
	await expect.poll(() => new URL(page.url()).searchParams.get('state')).toBeNull();
	await page.locator('.detailed .states path', { hasText: 'Rajasthan' }).dispatchEvent('click');
	await expect.poll(() => page.getByLabel('State', { exact: true }).inputValue()).toBe('Rajasthan');
	expect(faults).toEqual([]);
});

test('the surface is the tiles of the service', async () => {
	const { page, faults } = await signedIn(detailed, inject('sandbox'), inject('base'), still);
	await page.getByLabel('Surface', { exact: true }).selectOption('pm25');
	const tiles = page.locator('.detailed .surface img');
	await expect.poll(() => tiles.count()).toBeGreaterThan(0);
	await expect
		.poll(() =>
			tiles.evaluateAll((all) => all.every((one) => (one as HTMLImageElement).complete && (one as HTMLImageElement).naturalWidth === 256)),
		)
		.toBe(true);
	expect(await tiles.first().getAttribute('src')).toContain('/dashboard/v1/tiles/surface/');
	await page.getByText('ends 100 km from the nearest one.').waitFor();
	await page.getByRole('list', { name: 'Surface: PM2.5 (µg/m³)' }).waitFor();
	// The states do not hide it.
	expect(
		await page.locator('.detailed .states path').evaluateAll((all) => [...new Set(all.map((one) => getComputedStyle(one).fill))]),
	).toEqual(['rgba(0, 0, 0, 0)']);
	await pictured(page, 'air-surface');
	// The surface does not extend abroad.
	expect(await page.locator('.detailed .abroad').evaluate((one) => getComputedStyle(one).display)).toBe('inline');
	// A map that was hidden shows all of India again, and so does a narrower one.
	const width = async () => (await page.locator('.detailed .states').boundingBox())?.width ?? 0;
	const before = await width();
	await page.locator('.detailed').evaluate(async (one: HTMLElement) => {
		one.style.display = 'none';
		await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
		one.style.display = '';
	});
	await expect.poll(width).toBe(before);
	await page.setViewportSize({ width: 360, height: 740 });
	const frame = await page.getByRole('application').boundingBox();
	await expect
		.poll(async () => (await page.locator('.detailed .states').boundingBox())?.width ?? Number.POSITIVE_INFINITY)
		.toBeLessThan(frame?.width ?? 0);
	await page.getByLabel('Surface', { exact: true }).selectOption('none');
	await expect.poll(() => tiles.count()).toBe(0);
	expect(faults).toEqual([]);
});

test('a pollutant replaces the index on the map, in the legend and in the list', async () => {
	const { page, faults } = await signedIn(`${detailed}&layer=stations&state=Kerala`, inject('sandbox'), inject('base'), still);
	await page.getByLabel('Metric', { exact: true }).selectOption('pm25');
	const list = page.getByRole('list', { name: 'Places' });
	await same(
		() => list.locator('.index:not(.stale) b').allTextContents(),
		async () =>
			(await everything<Schemas['Station']>('/v1/stations'))
				.filter(({ state, stale }) => state === 'Kerala' && !stale)
				.map(({ pm25 }) => pm25 ?? -1)
				.sort((a, b) => b - a)
				.map((amount) => (amount < 0 ? '–' : String(amount))),
	);
	await page.getByRole('list', { name: 'PM2.5 (µg/m³)' }).getByText('> 250').waitFor();
	await list.getByRole('button').first().click();
	await page.locator('.chosen').getByText('reference station').waitFor();
	expect(await page.locator('.detailed .pin.reference').count()).toBeGreaterThan(0);
	expect(faults).toEqual([]);
});

test('near me chooses the closest city that reports, and the position stays in the browser', async () => {
	const here = { geolocation: { latitude: 28.61, longitude: 77.21 }, permissions: ['geolocation'] };
	const filtered = `${detailed}&state=Kerala`;
	const { page, faults } = await signedIn(filtered, inject('sandbox'), inject('base'), { ...still, ...here });
	const sent: string[] = [];
	page.on('request', (request) => sent.push(request.url()));
	await page.getByRole('button', { name: 'Near me' }).click();
	await expect.poll(() => new URL(page.url()).searchParams.get('at')).toBe('Delhi');
	await page.locator('.detailed .chosen-pin b', { hasText: 'Delhi' }).waitFor();
	// A filter does not hide the place near the reader.
	expect(new URL(page.url()).searchParams.get('state')).toBeNull();
	await page.getByRole('list', { name: 'Places' }).getByRole('button', { name: 'Delhi', pressed: true }).waitFor();
	expect(sent.filter((url) => url.includes('28.6'))).toEqual([]);
	expect(faults).toEqual([]);
});

test('on a phone two fingers zoom the detailed map, and Hindi has its texts', async () => {
	const { page, faults } = await signedIn(detailed, inject('sandbox'), inject('base'), { ...phone, ...still });
	await page.locator('.detailed .pin').first().waitFor();
	const frame = page.locator('.detailed');
	await frame.evaluate((one) => one.scrollIntoView({ block: 'start' }));
	const box = (await frame.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
	const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
	const touch = await page.context().newCDPSession(page);
	const fingers = (apart: number) => [
		{ x: x - apart, y, id: 1 },
		{ x: x + apart, y, id: 2 },
	];
	const width = () => page.locator('.detailed .states').evaluate((one) => one.getBoundingClientRect().width);
	const before = await width();
	await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: fingers(30) });
	for (const apart of [40, 60, 80, 90]) {
		await touch.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: fingers(apart) });
	}
	await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
	await expect.poll(width).toBeGreaterThan(before * 1.5);
	expect(await page.evaluate(() => visualViewport?.scale)).toBe(1);
	await accessible(page);
	await page.getByRole('button', { name: 'Menu' }).click();
	await page.getByLabel('Language').selectOption('hi');
	await page.getByRole('button', { name: 'विस्तृत नक्शा', pressed: true }).waitFor();
	expect(faults).toEqual([]);
});

/** unfitted names what of a state the map does not show: an edge of its outline, a mark, or a mark below the buttons. */
function unfitted(page: Page): Promise<string[]> {
	return page.evaluate(() => {
		const boxOf = (one: Element | null) => one?.getBoundingClientRect() ?? new DOMRect();
		const frame = boxOf(document.querySelector('.detailed-frame'));
		const outline = boxOf(document.querySelector('.detailed .states .on'));
		const tools = [...document.querySelectorAll('.detailed .map-tools button')].map(boxOf);
		const rooms = Object.entries({
			left: outline.left - frame.left,
			right: frame.right - outline.right,
			top: outline.top - frame.top,
			bottom: frame.bottom - outline.bottom,
		});
		const spare = Math.min(...rooms.map(([, room]) => room));
		return [
			...rooms.filter(([, room]) => room < 20).map(([side, room]) => `${side}: ${Math.round(room)} px`),
			...(spare > 40 ? [`the margin is ${Math.round(spare)} px`] : []),
			...[...document.querySelectorAll('.detailed .pin > span')]
				.filter((mark) => {
					const box = boxOf(mark);
					const inside = box.left >= frame.left && box.right <= frame.right && box.top >= frame.top && box.bottom <= frame.bottom;
					const below = tools.some(
						(tool) => box.left < tool.right && tool.left < box.right && box.top < tool.bottom && tool.top < box.bottom,
					);
					return !inside || below;
				})
				.map((mark) => `mark ${mark.textContent}`),
		];
	});
}

test('a state fits into the map, also after each change of its size', async () => {
	const { page, faults } = await signedIn(`${detailed}&layer=stations`, inject('sandbox'), inject('base'), still);
	for (const state of ['Rajasthan', 'Maharashtra', 'Gujarat', 'Kerala', 'Delhi', 'Goa']) {
		await page.getByLabel('State', { exact: true }).selectOption(state);
		await page.locator('.detailed .states .on title', { hasText: state }).waitFor({ state: 'attached' });
		for (const width of [1280, 390, 360, 1280]) {
			await page.setViewportSize({ width, height: 844 });
			await expect.poll(() => unfitted(page), { message: `${state} at ${width} px`, timeout: 10_000 }).toEqual([]);
		}
	}
	// A view of the reader stays.
	await page.getByRole('button', { name: 'Zoom in' }).click();
	await page.setViewportSize({ width: 390, height: 844 });
	await expect.poll(() => page.locator('.leaflet-container').evaluate((map) => map.clientWidth)).toBeLessThan(390);
	await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
	expect(await unfitted(page)).not.toEqual([]);
	expect(faults).toEqual([]);
});
