import type { Locator, Page } from 'playwright-core';
import { expect, inject, test } from 'vitest';
import { accessible, ask, phone, signedIn, visit } from './browser';
import { Receiver } from './receiver';
import { account } from './service';

const patient = { timeout: 240_000 };

/** opened opens a page of the dashboard on a phone. */
function opened(path: string, key = inject('sandbox'), options = {}) {
	return signedIn(path, key, inject('base'), { ...phone, ...options });
}

/**
 * cut returns the texts of cells that a phone does not show in full. A cell with a label must show it, except in the lines
 * of a compact table. The label of a cell without a value is not shown.
 */
function cut(table: Locator): Promise<string[]> {
	return table.evaluate((section) =>
		[...section.querySelectorAll<HTMLElement>('tbody :is(td, th)')]
			.filter((cell) => !/^[–\s]*$/.test(cell.textContent ?? '') || cell.querySelector('input, svg'))
			.filter((cell) => {
				const { left, right, width } = cell.getBoundingClientRect();
				const labelled =
					cell.matches('.heading:not(.figure), th, .wh-tick, .compact td:not(.labelled)') ||
					getComputedStyle(cell, '::before').content.includes(cell.dataset.label || '?');
				return left < 0 || right > window.innerWidth || width < 24 || cell.scrollWidth > cell.clientWidth + 1 || !labelled;
			})
			.map((cell) => `${cell.dataset.label}: ${cell.textContent}`),
	);
}

/** fits checks that a table is shown in full on a phone, and that it is a table for screen readers. */
async function fits(page: Page, table: Locator): Promise<void> {
	await table.locator('tbody tr').first().waitFor(patient);
	await expect.poll(() => cut(table), patient).toEqual([]); // the page can still change its language
	expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBe(0);
	const columns = await table.locator('thead th').count();
	expect(await table.getByRole('table').getByRole('columnheader').count()).toBe(columns);
	const cells = table.getByRole('row').nth(1);
	expect((await cells.getByRole('cell').count()) + (await cells.getByRole('rowheader').count())).toBe(columns);
}

/** filled creates an account with a recharge, a payment, a verification, a second key, an invalid batch and a webhook. */
async function filled(): Promise<{ key: string; receiver: Receiver }> {
	const key = await account(inject('data'), 'phone');
	const receiver = await Receiver.start();
	await ask('/v1/webhooks', { url: `${receiver.url}/with-a-long-path`, events: ['recharge.completed', 'payment.succeeded'] }, key);
	await ask('/v1/wallet/topups', { amount: 5000, ref_id: 'phone-payment-1' }, key);
	await ask('/v1/recharge', { mobile: '9876543210', operator: 'Jio', amount: 199, type: 'prepaid', ref_id: 'phone-order-2026-11-28' }, key);
	await ask('/v1/bank/verify', { account_number: '12345678901', ifsc: 'SBIN0000001', name: 'Asha Kumari', ref_id: 'phone-bank-1' }, key);
	const events = async () => (await ask<{ data: unknown[] }>('/v1/deliveries', undefined, key)).data.length;
	await expect.poll(events, patient).toBeGreaterThan(0);
	return { key, receiver };
}

test('on a phone the rows of a table are cards or a few lines, which show every column', async () => {
	const { key } = await filled();
	const { page, faults } = await opened('/wallet', key);
	for (const [path, name] of [
		['/wallet', 'Statement'],
		['/wallet?show=payments', 'Payments into the wallet'],
		['/recharges', 'Recharges'],
		['/verifications', 'Verifications'],
		['/keys', 'API keys'],
		['/audit', 'Audit log'],
		['/sessions', 'Sessions'],
		['/events', 'Events'],
		['/deliveries', 'Deliveries'],
		['/event-types', 'Recharges'],
		['/event-types/recharge.completed', 'Fields of data'],
		['/rankings', 'Rankings'],
		['/air/Delhi', 'Pollutants'],
	] as const) {
		await page.goto(`/dashboard${path}`);
		await fits(page, page.getByRole('region', { name, exact: true }));
		await accessible(page);
	}
	expect(faults).toEqual([]);
});

test('on a phone the calls of an account and its sources are in full, in Hindi and in the dark', async () => {
	await ask('/v1/aqi?city=Pune', undefined, inject('live'));
	for (const [path, key, tables] of [
		['/usage', inject('live'), 2],
		['/sources', inject('sandbox'), 1],
	] as const) {
		const { page, faults } = await opened(path, key, { colorScheme: 'dark' });
		await page.getByRole('button', { name: 'Menu' }).click();
		await page.getByLabel('Language').selectOption('hi');
		for (let n = 0; n < tables; n++) {
			await fits(page, page.locator('.listed').nth(n));
		}
		await accessible(page);
		expect(faults).toEqual([]);
	}
});

test('on a phone a list is sorted by buttons that a finger can touch', async () => {
	const { page, faults } = await opened('/rankings');
	const table = page.getByRole('region', { name: 'Rankings' });
	await table.locator('tbody tr').first().waitFor();
	const button = table.getByRole('button', { name: /^City/ });
	expect((await button.boundingBox())?.height).toBeGreaterThanOrEqual(44);
	await button.tap();
	await expect.poll(() => new URL(page.url()).searchParams.get('sort')).toBe('city');
	const names = () => table.locator('tbody .heading a').allTextContents();
	await expect.poll(async () => (await names()).join() === (await names()).sort((a, b) => a.localeCompare(b)).join()).toBe(true);
	expect(faults).toEqual([]);
});

test('on a phone two attempts of a delivery are compared in full', async () => {
	const key = await account(inject('data'), 'phone-compare');
	const receiver = await Receiver.start();
	receiver.status = 500;
	const webhook = await ask<{ id: string }>('/v1/webhooks', { url: receiver.url, events: ['recharge.completed'] }, key);
	const { delivery_id: id } = await ask<{ delivery_id: string }>(`/v1/webhooks/${webhook.id}/test`, {}, key);
	const made = async () => (await ask<{ data: { attempts_made: number } }>(`/v1/deliveries/${id}`, undefined, key)).data.attempts_made;
	await expect.poll(made, patient).toBe(1);
	receiver.status = 503;
	await expect.poll(made, patient).toBe(2);
	const { page, faults } = await opened(`/deliveries/${id}`, key);
	const compared = page.getByRole('region', { name: 'Compare two attempts' });
	await compared.getByRole('row', { name: 'Result HTTP 500 HTTP 503' }).waitFor();
	await fits(page, compared);
	await accessible(page);
	expect(faults).toEqual([]);
});

test('the labels of filters stand in one line, with and without a hint, and headings are apart from fields', async () => {
	const { page } = await signedIn('/recharges');
	const labels = page.locator('form.filters label');
	await labels.nth(1).waitFor();
	const tops = await labels.evaluateAll((all) => all.slice(0, 3).map((one) => Math.round(one.getBoundingClientRect().top)));
	expect(new Set(tops).size).toBe(1);
	const { page: signin } = await visit('/', inject('base'), phone);
	const heading = await signin.getByRole('heading', { level: 1 }).boundingBox();
	const label = await signin.getByText('API key', { exact: true }).boundingBox();
	expect((label?.y ?? 0) - (heading?.y ?? 0) - (heading?.height ?? 0)).toBeGreaterThanOrEqual(12);
});

test('an id has one line, with its button beside or below it, and placeholders are readable in the dark', async () => {
	const { key } = await filled();
	const { data } = await ask<{ data: { id: string }[] }>('/v1/deliveries', undefined, key);
	for (const options of [phone, { colorScheme: 'dark' }] as const) {
		const { page } = await signedIn(`/deliveries/${data[0]?.id}`, key, inject('base'), options);
		const id = page.locator('.facts .copyable code');
		await id.waitFor(patient);
		expect(await id.evaluate((one) => one.getClientRects().length)).toBe(1);
		expect((await id.boundingBox())?.height).toBeLessThan(30);
		await page.goto('/dashboard/deliveries');
		const placeholder = page.getByPlaceholder('evt_…');
		await placeholder.waitFor({ ...patient, state: 'attached' }); // a phone folds the filters
		expect(await placeholder.evaluate((one) => getComputedStyle(one, '::placeholder').color)).toBe(
			await page
				.locator('.hint')
				.first()
				.evaluate((one) => getComputedStyle(one).color),
		);
	}
});

test('on a phone filters are folded, and their button has the number in use', async () => {
	const { page, faults } = await opened('/recharges');
	const button = page.getByRole('button', { name: 'Filters', exact: true });
	await button.waitFor();
	await expect.poll(() => page.getByLabel('State', { exact: true }).isVisible()).toBe(false);
	expect(await page.getByLabel('Number, reference or ID').isVisible()).toBe(true); // a search is not folded
	await button.click();
	await page.getByLabel('State', { exact: true }).selectOption('failed');
	const used = page.getByRole('button', { name: 'Filters (1)' });
	await used.click();
	await expect.poll(() => page.getByLabel('State', { exact: true }).isVisible()).toBe(false);
	expect(page.url()).toContain('status=failed');
	await accessible(page);
	const reset = page.getByRole('button', { name: 'Reset' });
	expect((await reset.boundingBox())?.y).toBe((await used.boundingBox())?.y);
	await page.setViewportSize({ width: 1280, height: 800 });
	await page.getByText('1 filter in use').waitFor();
	await reset.click();
	await expect.poll(() => page.url()).not.toContain('status=failed');
	expect(faults).toEqual([]);
});

test('on a phone the states of deliveries are a list, which shows the chosen one and is no filter', async () => {
	const { key } = await filled();
	const { page, faults } = await opened('/deliveries?state=failed&retried=false', key);
	const states = page.getByLabel('Deliveries by state');
	await states.getByRole('option', { name: 'Failed, not sent again (0)' }).waitFor({ ...patient, state: 'attached' });
	const chosen = () => states.evaluate((one: HTMLSelectElement) => one.selectedOptions[0]?.textContent);
	expect(await chosen()).toBe('Failed, not sent again (0)');
	await page.getByRole('button', { name: 'Filters', exact: true }).waitFor(); // without a number in use
	expect(await page.getByRole('button', { name: 'Deliver failed ones again' }).isDisabled()).toBe(true);
	await states.selectOption({ label: 'Cancelled (0)' });
	await page.waitForURL(/state=cancelled/);
	await page.getByText('No matching deliveries').waitFor();
	await accessible(page);
	expect(faults).toEqual([]);
});
