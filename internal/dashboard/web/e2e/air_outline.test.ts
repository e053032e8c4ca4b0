import { expect, inject, test } from 'vitest';
import type { Schemas } from '../src/api/client';
import { ask, pictured, signedIn } from './browser';

const still = { reducedMotion: 'reduce' } as const;

test.each(['/', '/?map=detailed'])('the map %s draws the states of today, under the names of the API', async (path) => {
	const { page, faults } = await signedIn(path, inject('sandbox'), inject('base'), still);
	await page.getByRole('list', { name: 'Places' }).waitFor();
	const drawn = () => page.locator('.states path title').allTextContents();
	await expect.poll(async () => (await drawn()).length).toBe(36);
	const states = await drawn();
	expect(states).toEqual(expect.arrayContaining(['Ladakh', 'Telangana', 'Jammu and Kashmir', 'Dadra and Nagar Haveli and Daman and Diu']));
	// The filter has the states of the API. Each can be chosen on the map.
	const filter = page.getByLabel('State', { exact: true });
	const named = (await filter.locator('option').allTextContents()).slice(1);
	expect(named.length).toBeGreaterThan(20);
	expect(named.filter((one) => !states.includes(one))).toEqual([]);
	for (const one of ['Jammu and Kashmir', 'Telangana']) {
		await page.locator('.states path', { has: page.locator(`title:text-is("${one}")`) }).dispatchEvent('click');
		await expect.poll(() => filter.inputValue()).toBe(one);
		expect(await page.locator('.states path.on title').allTextContents()).toEqual([one]);
	}
	expect(await page.getByRole('link', { name: 'CC0' }).getAttribute('href')).toBe('https://creativecommons.org/publicdomain/zero/1.0/');
	expect(faults).toEqual([]);
});

test('the mark of each city is in the outline of its state', async () => {
	const { page, faults } = await signedIn('/', inject('sandbox'), inject('base'), still);
	await page.locator('.mark').first().waitFor();
	// Cities that are close to each other share a mark until the map is close enough. Marks outside its frame are drawn, too.
	for (const closer = page.getByRole('button', { name: 'Zoom in' }); (await page.locator('.mark.several').count()) > 0; ) {
		await closer.click();
	}
	const cities = (await ask<{ data: Schemas['City'][] }>('/v1/cities?limit=1000')).data.filter(({ latitude }) => latitude !== null);
	const wrong = await page.evaluate(
		(all) => {
			const paths = [...document.querySelectorAll<SVGPathElement>('.states path')];
			return all.flatMap(({ name, state }) => {
				const mark = document.querySelector<SVGGraphicsElement>(`.mark[data-place="${CSS.escape(name)}"]`);
				const own = paths.find((path) => path.querySelector('title')?.textContent === state);
				if (!mark || !own) {
					return [`${name} is not drawn`];
				}
				const { x, y, width, height } = mark.getBBox();
				// 2 km are less than half a unit, and the mark of a city on the coast may be in the sea.
				const near = [-0.5, 0, 0.5].flatMap((right) =>
					[-0.5, 0, 0.5].map((down) => new DOMPoint(x + width / 2 + right, y + height / 2 + down)),
				);
				return near.some((point) => own.isPointInFill(point)) ? [] : [`${name} is not in ${state}`];
			});
		},
		cities.map(({ name, state }) => ({ name, state })),
	);
	expect(cities.length).toBeGreaterThan(80);
	expect(wrong).toEqual([]);
	await page.getByRole('button', { name: 'All of India' }).click();
	await pictured(page, 'air-outline');
	await page.getByRole('button', { name: 'Detailed map' }).click();
	await page.locator('.detailed .pin').first().waitFor();
	await pictured(page, 'air-outline-detailed');
	expect(faults).toEqual([]);
});
