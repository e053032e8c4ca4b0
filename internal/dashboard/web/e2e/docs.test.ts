import { expect, test } from 'vitest';
import { obeys, visit } from './browser';

// Redoc requests its logo from another host, and nothing else. The content security policy blocks it.
const logo = /redoc\.ly\/redoc\/logo/;

test('the API reference shows every tag and an operation, and requests nothing from other hosts', async () => {
	const { page, faults } = await visit();
	const foreign: string[] = [];
	page.on('requestfinished', (request) => {
		if (new URL(request.url()).host !== new URL(page.url()).host && !request.url().startsWith('data:')) {
			foreign.push(request.url());
		}
	});
	await page.goto('/docs');
	const document = (await (await page.request.get('/openapi.json')).json()) as { tags: { name: string }[] };
	for (const tag of document.tags) {
		await page.getByText(tag.name, { exact: true }).first().waitFor();
	}
	await page.goto('/docs#tag/Air-quality/operation/getAirQuality');
	await page.getByText('/v1/aqi', { exact: true }).first().waitFor();
	expect(foreign).toEqual([]);
	expect(faults.filter((fault) => !logo.test(fault))).toEqual([]);
});

test('the examples of the API reference have the address of the service, and the keyboard reaches them', async () => {
	const { page } = await visit();
	await page.goto('/docs');
	const text = () => page.evaluate(() => document.body.textContent ?? '');
	await expect.poll(text).toContain(`BASE=${new URL(page.url()).origin}`);
	expect(await text()).not.toContain('127.0.0.1:8080');
	await obeys(page, 'landmark-unique', 'landmark-no-duplicate-main', 'scrollable-region-focusable', 'link-name', 'button-name');
});
