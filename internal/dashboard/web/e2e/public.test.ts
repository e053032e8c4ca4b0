import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { pictured, visit } from './browser';

interface PublicPage {
	current: { aqi: number; category: string };
	advice: Record<'en' | 'hi', { name: string; general: string }>;
	hours: unknown[];
}

const base = inject('base');
const edge = `${base}/public/v1`;
let server: Server;
let origin: string;

// The page of another origin isolates itself, and its policy permits nothing but the public edge.
const policy = `default-src 'none'; script-src ${base}; connect-src ${base}; img-src ${base}`;
const html = `<!doctype html><html lang="en"><head><title>Another site</title></head><body><main><h1>Another site</h1>
	<p><script async src="${edge}/widget.js" data-city="Delhi"></script></p>
	<p><vayu-aqi city="Pune" lang="hi" name="पुणे"></vayu-aqi></p>
	<p><vayu-aqi city="Nowhere at all"></vayu-aqi></p>
	<p><img src="${edge}/cities/Delhi/badge.svg" alt="AQI of Delhi"></p>
	<p><img src="${edge}/cities/Delhi/chart.svg" alt="The last 24 hours in Delhi" width="344"></p>
	</main></body></html>`;

beforeAll(async () => {
	server = createServer((_, reply) => {
		reply.setHeader('Content-Type', 'text/html; charset=utf-8');
		reply.setHeader('Content-Security-Policy', policy);
		reply.setHeader('Cross-Origin-Embedder-Policy', 'require-corp');
		reply.end(html);
	});
	await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
	origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

/** received returns the page of a city that the next script of a window gets. The air changes between two requests. */
async function received(page: Page, city: string): Promise<PublicPage> {
	return (await (await page.waitForResponse(`${edge}/cities/${city}`)).json()) as PublicPage;
}

test('a page of another origin shows the air with one script', async () => {
	const { page, faults } = await visit();
	await page.goto('about:blank'); // ends the requests of the dashboard, which visit opened
	const requests: { url: string; headers: Record<string, string> }[] = [];
	page.on('request', (request) => requests.push({ url: request.url(), headers: request.headers() }));
	await page.context().clearCookies();
	const [delhi, pune] = await Promise.all([received(page, 'Delhi'), received(page, 'Pune'), page.goto(origin)]);
	const widgets = page.locator('vayu-aqi');
	await widgets.first().getByRole('heading', { name: 'Delhi' }).waitFor();
	expect(await widgets.first().locator('.now').textContent()).toBe(`${delhi.current.aqi}AQI · ${delhi.advice.en.name}`);
	expect(await widgets.first().getByText(delhi.advice.en.general).count()).toBe(1);
	expect(await widgets.first().locator('rect').count()).toBe(delhi.hours.length);
	await widgets.nth(1).getByText(pune.advice.hi.general).waitFor();
	await widgets.nth(1).getByRole('heading', { name: 'पुणे' }).waitFor();
	expect(await widgets.nth(1).locator('.now').textContent()).toBe(`${pune.current.aqi}AQI · ${pune.advice.hi.name}`);
	const source = widgets.nth(1).locator('small');
	expect(await source.textContent()).toMatch(/भारतीय समय · आँकड़े: बनावटी आँकड़े$/);
	expect(await source.locator('[lang="en"]').count()).toBe(0);
	await widgets.nth(2).getByText('Unknown place').waitFor();
	// Styles work under the policy, also the colour of the category.
	const fill = await widgets
		.first()
		.locator('.now')
		.evaluate((box) => getComputedStyle(box).backgroundColor);
	expect(fill).not.toBe('rgba(0, 0, 0, 0)');
	for (const image of await page.locator('img').all()) {
		await expect.poll(() => image.evaluate((one) => (one as HTMLImageElement).naturalWidth)).toBeGreaterThan(50);
	}
	await pictured(page, 'public-widget');
	// The widget sends requests to the public edge only, which learns neither the page nor the visitor.
	const foreign = requests.filter(({ url }) => !url.startsWith(`${edge}/`) && !url.startsWith(`${origin}/`));
	expect(foreign.map(({ url }) => url)).toEqual([]);
	const cities = requests.filter(({ url }) => /\/cities\/[^/]+$/.test(url));
	// A busy browser may send a request again.
	const paths = new Set(cities.map(({ url }) => url.slice(edge.length)));
	expect([...paths].sort()).toEqual(['/cities/Delhi', '/cities/Nowhere%20at%20all', '/cities/Pune']);
	expect(cities.filter(({ headers }) => headers.referer || headers.cookie)).toEqual([]);
	expect(await page.context().cookies()).toEqual([]);
	expect(faults).toEqual([]);
});

test('a widget shows names of networks as they are, and says that they are English', async () => {
	const { page } = await visit();
	await page.goto('about:blank');
	await page.route(`${edge}/cities/Pune`, async (route) => {
		const reply = await route.fetch();
		const city = await reply.json();
		await route.fulfill({ response: reply, json: { ...city, current: { ...city.current, attribution: ['Simulated data', 'OpenAQ'] } } });
	});
	await page.goto(origin);
	const source = page.locator('vayu-aqi[city="Pune"] small');
	await source.getByText('OpenAQ').waitFor();
	expect(await source.textContent()).toMatch(/: बनावटी आँकड़े, OpenAQ$/);
	expect(await source.locator('[lang="en"]').allTextContents()).toEqual(['OpenAQ']);
});
