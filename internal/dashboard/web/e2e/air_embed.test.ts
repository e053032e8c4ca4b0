import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, inject, test } from 'vitest';
import { pictured, signedIn } from './browser';
import { start } from './service';

test('the code of a city works on another page', async () => {
	const { page, faults } = await signedIn('/air/Aurangabad,%20Bihar');
	const card = page.locator('section', { has: page.getByRole('heading', { name: 'Embed' }) });
	const code = () => card.locator('pre').textContent();
	await expect.poll(code).toBe(`<script async src="${inject('base')}/public/v1/widget.js" data-city="Aurangabad, Bihar"></script>`);
	await card.getByText('The public pages of this service show simulated air.').waitFor();
	const badge = card.getByRole('img', { name: 'AQI of Aurangabad, Bihar' });
	await expect.poll(() => badge.evaluate((one) => (one as HTMLImageElement).naturalWidth)).toBeGreaterThan(50);
	await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
	await card.getByRole('button', { name: 'Image in Markdown' }).focus();
	await page.keyboard.press('Enter');
	await card.getByRole('button', { name: 'Copy' }).click();
	await card.getByRole('button', { name: 'Copied' }).waitFor();
	const copied = await page.evaluate(() => navigator.clipboard.readText());
	expect(copied).toBe(`![AQI of Aurangabad, Bihar](${inject('base')}/public/v1/cities/Aurangabad%2C%20Bihar/badge.svg)`);
	const image = await fetch(copied.slice(copied.indexOf('](') + 2, -1));
	expect(image.headers.get('content-type')).toMatch(/^image\/svg\+xml/);
	await card.scrollIntoViewIfNeeded();
	await pictured(page, 'air-embed');

	await card.getByRole('button', { name: 'Widget' }).click();
	const widget = await code();
	// A page of another origin.
	const server = createServer((_, reply) =>
		reply.setHeader('Content-Type', 'text/html').end(`<!doctype html><title>Another page</title><body>${widget}`),
	);
	await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
	try {
		await page.context().clearCookies();
		await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
		await page.locator('vayu-aqi').getByRole('heading', { name: 'Aurangabad' }).waitFor();
	} finally {
		server.close();
	}
	expect(faults).toEqual([]);
});

test('without a public edge a city has no code', async () => {
	const service = await start();
	try {
		const { page } = await signedIn('/air/Delhi', service.sandbox, service.base);
		const reply = await page.waitForResponse(/\/public\/v1\/cities\/Delhi$/);
		expect(reply.status()).toBe(404);
		await page.getByRole('heading', { name: 'Stations' }).waitFor();
		expect(await page.getByRole('heading', { name: 'Embed' }).count()).toBe(0);
	} finally {
		await service.stop();
	}
});
