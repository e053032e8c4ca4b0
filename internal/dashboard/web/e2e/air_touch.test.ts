import type { Page } from 'playwright-core';
import { expect, inject, test } from 'vitest';
import { accessible, phone, signedIn } from './browser';

/** Mark is the middle of a mark on the screen. */
interface Mark {
	id: string;
	several: boolean;
	x: number;
	y: number;
}

/** marks returns the marks of the map. */
function marks(page: Page): Promise<Mark[]> {
	return page.locator('.mark').evaluateAll((all) =>
		all.map((mark) => {
			const box = mark.getBoundingClientRect();
			return {
				id: (mark as SVGElement).dataset.place ?? '',
				several: mark.matches('.several'),
				x: box.left + box.width / 2,
				y: box.top + box.height / 2,
			};
		}),
	);
}

/** alone returns the mark of one place that has no other mark close to it. */
function alone(all: readonly Mark[]): Mark {
	const apart = (one: Mark) =>
		Math.min(...all.filter(({ id }) => id !== one.id).map((other) => Math.hypot(other.x - one.x, other.y - one.y)));
	const [found] = all.filter(({ several }) => !several).sort((a, b) => apart(b) - apart(a));
	return found ?? { id: '', several: false, x: 0, y: 0 };
}

/** zoom returns the magnification of the map. */
async function zoom(page: Page): Promise<number> {
	const box = (await page.locator('.map-frame svg').getAttribute('viewBox'))?.split(' ') ?? [];
	return 612 / Number(box[2]);
}

test('on a phone a tap beside a mark chooses it, and the place is in sight', async () => {
	const { page, faults } = await signedIn('/', inject('sandbox'), inject('base'), phone);
	await page.locator('.mark').first().waitFor();
	await page.locator('.map').scrollIntoViewIfNeeded();
	await page.evaluate(() => document.querySelector('.map svg')?.scrollIntoView({ block: 'start' }));
	const mark = alone(await marks(page));
	await page.touchscreen.tap(mark.x + 8, mark.y + 8);
	await expect.poll(() => new URL(page.url()).searchParams.get('at')).toBe(mark.id);
	const chosen = page.locator('.chosen');
	await chosen.getByText(mark.id).first().waitFor();
	const box = await chosen.boundingBox();
	expect(box?.y ?? -1).toBeGreaterThan(0);
	expect((box?.y ?? 0) + (box?.height ?? 1000)).toBeLessThanOrEqual(844);
	await accessible(page);
	expect(faults).toEqual([]);
});

test('on a phone two fingers zoom the map and not the page', async () => {
	const { page, faults } = await signedIn('/', inject('sandbox'), inject('base'), phone);
	await page.locator('.mark').first().waitFor();
	await page.evaluate(() => document.querySelector('.map svg')?.scrollIntoView({ block: 'start' }));
	const box = (await page.locator('.map-frame svg').boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
	const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
	const touch = await page.context().newCDPSession(page);
	const fingers = (apart: number) => [
		{ x: x - apart, y, id: 1 },
		{ x: x + apart, y, id: 2 },
	];
	await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: fingers(30) });
	for (const apart of [40, 60, 80, 90]) {
		await touch.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: fingers(apart) });
	}
	await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
	await expect.poll(() => zoom(page)).toBeGreaterThan(2);
	expect(await page.evaluate(() => visualViewport?.scale)).toBe(1);
	expect(new URL(page.url()).searchParams.get('at')).toBeNull();
	expect(faults).toEqual([]);
});

test('on a phone lists begin with 20 rows, and a place that is chosen in the list is in sight', async () => {
	const { page, faults } = await signedIn('/', inject('sandbox'), inject('base'), phone);
	const items = page.getByRole('list', { name: 'Places' }).getByRole('listitem');
	await expect.poll(() => items.count()).toBe(20);
	const last = items.last().getByRole('button');
	const name = (await last.locator('.place-name').textContent())?.trim() ?? '';
	await last.tap();
	const chosen = page.locator('.chosen');
	await chosen.waitFor();
	expect(name).toContain(new URL(page.url()).searchParams.get('at') ?? '?');
	const box = await chosen.boundingBox();
	expect((box?.y ?? 0) + (box?.height ?? 1000)).toBeLessThanOrEqual(844);
	await page.getByRole('button', { name: 'Show more' }).tap();
	await expect.poll(() => items.count()).toBeGreaterThan(20);
	await page.goto('/dashboard/rankings');
	const rows = page.getByRole('region', { name: 'Rankings' }).locator('tbody tr');
	await expect.poll(() => rows.count()).toBe(20);
	// A row has the city beside its index, and the data below.
	const cells = await rows
		.last()
		.evaluate((row) => [...row.querySelectorAll('td')].map((cell) => Math.round(cell.getBoundingClientRect().top)));
	expect(Math.abs((cells[1] ?? 0) - (cells[2] ?? 0))).toBeLessThan(12);
	expect(cells[4]).toBe(cells[3]);
	await page.getByRole('button', { name: 'Show more' }).tap();
	await expect.poll(() => rows.count()).toBeGreaterThan(20);
	expect(faults).toEqual([]);
});

test('on a phone the answer of a city stands above the search for another, and its parts directly below', async () => {
	const { page, faults } = await signedIn('/air/Pune', inject('sandbox'), inject('base'), phone);
	const index = page.locator('.current .index');
	await index.waitFor();
	const box = await index.boundingBox();
	expect((box?.y ?? 0) + (box?.height ?? 1000)).toBeLessThan(844);
	const top = async (name: string) => (await page.getByRole('heading', { name, exact: true }).boundingBox())?.y ?? 0;
	expect(await top('Pollutants')).toBeLessThan(await top('What to do'));
	const search = await page.getByRole('combobox', { name: 'Another city or pin code' }).boundingBox();
	expect(search?.y ?? 0).toBeGreaterThan(await top('What to do'));
	expect(faults).toEqual([]);
});
