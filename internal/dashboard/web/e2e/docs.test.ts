import { expect, inject, test } from 'vitest';
import { obeys, phone, visit } from './browser';

test('the API reference shows every tag and an operation, and requests nothing from other hosts', async () => {
	const { page, faults } = await visit();
	const foreign: string[] = [];
	page.on('request', (request) => {
		if (new URL(request.url()).host !== new URL(page.url()).host && !request.url().startsWith('data:')) {
			foreign.push(request.url());
		}
	});
	await page.goto('/docs');
	const document = (await (await page.request.get('/openapi.json')).json()) as { tags: { name: string }[] };
	for (const tag of document.tags) {
		await page.locator('openapi-explorer').getByText(tag.name, { exact: true }).first().waitFor();
	}
	await page.goto('/docs#?route=get-/v1/aqi');
	await page.getByRole('button', { name: 'A city now (Python)' }).click();
	await page.getByText('vayu = Vayu(os.environ["API"], os.environ["KEY"])').first().waitFor();
	// The reference has a list of its own, so that the pages are not another one at its side.
	const pages = page.getByRole('navigation', { name: 'Pages' });
	expect((await pages.boundingBox())?.width).toBe(page.viewportSize()?.width);
	await pages.getByText('Guides for developers', { exact: true }).click();
	await pages.getByRole('link', { name: 'Recharges', exact: true }).waitFor();
	expect(foreign).toEqual([]);
	expect(faults).toEqual([]);
});

test('the reference makes a call with a key', async () => {
	const { page, faults } = await visit();
	await page.goto('/docs#?route=auth');
	await page.reload();
	await page.locator('input.api-key-input:not([disabled])').first().fill(inject('sandbox'));
	await page.getByRole('button', { name: 'SET' }).first().click();
	await page.getByText('Key Applied', { exact: true }).waitFor();
	await page.goto('/docs#?route=get-/v1/aqi');
	await page.locator('input[data-pname="city"]').fill('Pune');
	const [reply] = await Promise.all([page.waitForResponse(/\/v1\/aqi\?/), page.getByRole('button', { name: 'EXECUTE' }).first().click()]);
	expect(reply.status()).toBe(200);
	expect(await reply.json()).toMatchObject({ city: 'Pune' });
	await page.getByText('"category"').first().waitFor();
	expect(faults).toEqual([]);
});

test('the examples of the API reference have the address of the service, and the keyboard reaches them', async () => {
	const { page } = await visit();
	await page.goto('/docs');
	await page
		.getByText(`BASE=${new URL(page.url()).origin}`)
		.first()
		.waitFor();
	expect(await page.getByText('127.0.0.1:8080').count()).toBe(0);
	await obeys(page, 'landmark-unique', 'landmark-no-duplicate-main', 'link-name', 'button-name');
});

test('guides, changelog and deprecations are pages, and the search finds a section', async () => {
	const { page, faults } = await visit();
	await page.goto('/docs?page=guides/scales');
	await page.getByRole('heading', { level: 1 }).waitFor();
	await obeys(page, 'landmark-unique', 'landmark-one-main', 'scrollable-region-focusable', 'link-name', 'color-contrast', 'heading-order');
	await page.getByRole('searchbox', { name: 'Search' }).fill('verification of a signature');
	await page.getByRole('link', { name: /^Verification of a signature/ }).click();
	await page.waitForURL(/page=webhooks#verification-of-a-signature/);
	await page.getByRole('heading', { name: 'Verification of a signature' }).waitFor();
	await page.goto('/docs?page=deprecations');
	await page.getByRole('heading', { name: 'Deprecations' }).waitFor();
	await page.goto('/docs?page=changelog');
	await page.getByRole('heading', { name: 'Changelog' }).waitFor();
	await page.goto('/docs?page=none');
	await page.getByRole('alert').getByText('There is no page none.').waitFor();
	const pages = page.getByRole('navigation', { name: 'Pages' });
	await pages.getByText('Guides for operators', { exact: true }).click();
	await pages.getByRole('link', { name: 'Connecting a bank', exact: true }).waitFor();
	expect(faults).toEqual([]);
});

test('on a phone a page begins on the first screen, and the list of pages is unfolded on demand', async () => {
	const { page, faults } = await visit('/', inject('base'), phone);
	await page.goto('/docs?page=guides/webhooks');
	const title = page.getByRole('heading', { level: 1 });
	await title.waitFor();
	expect((await title.boundingBox())?.y).toBeLessThan(422);
	const pages = page.getByRole('navigation', { name: 'Pages' });
	await pages.getByText('All pages', { exact: true }).click();
	await pages.getByText('Guides for developers', { exact: true }).waitFor();
	await pages.getByRole('link', { name: 'Accounts', exact: true }).waitFor();
	expect(faults).toEqual([]);
});
