import { expect, inject, test } from 'vitest';
import { ask, pictured, signedIn } from './browser';
import { account, command } from './service';

test('the home page has the saved cities, the money of today, webhooks, alerts and the quota', async () => {
	const key = await account(inject('data'), 'home');
	await ask('/v1/wallet/topups', { amount: 500, ref_id: 'home-topup' }, key);
	await ask('/v1/recharge', { mobile: '9000000001', operator: 'auto', amount: 199, type: 'prepaid', ref_id: 'home-1' }, key);
	await ask('/v1/bank/verify', { vpa: 'success@upi', name: 'Asha' }, key);
	await ask('/v1/webhooks', { url: 'https://127.0.0.1:9/home', events: ['recharge.completed'] }, key);
	const { page, faults } = await signedIn('/home', key);
	const card = (name: string) => page.locator('section.card').filter({ has: page.getByRole('heading', { name, level: 2 }) });
	await card('Wallet').getByText('₹301.00').first().waitFor();
	await card('Recharges today').getByText('₹199.00 recharged').waitFor();
	await card('Verifications today').getByText('1 of 1 accounts found').waitFor();
	await card('Webhook health').getByText('0 of 1 failing').waitFor();
	await card('Webhook health').getByRole('link', { name: 'https://127.0.0.1:9/home' }).waitFor();
	await card('Triggered alerts').getByText('No alerts', { exact: true }).waitFor();

	const air = card('Air now');
	await air.getByText('Save the cities that you want to see here.').waitFor();
	await air.getByRole('combobox').fill('Delhi');
	await air
		.getByRole('option', { name: /^Delhi/ })
		.first()
		.click();
	const { aqi } = await ask<{ aqi: number }>('/v1/aqi?city=Delhi', undefined, key);
	await air.getByRole('listitem').filter({ hasText: 'Delhi' }).getByText(String(aqi), { exact: true }).waitFor();
	await page.goto('/dashboard/air/Pune');
	await page.getByRole('button', { name: 'Save on the home page' }).click();
	await page.getByRole('button', { name: 'Save on the home page', pressed: true }).waitFor();
	await page.getByRole('link', { name: 'Home', exact: true }).click();
	await expect.poll(() => air.locator('.home-list li > a').allTextContents()).toEqual(['Delhi', 'Pune']);
	// The cards of a row have the same height, and their links stand in one line.
	for (const names of [
		['Wallet', 'Recharges today', 'Verifications today', 'Calls this month'],
		['Webhook health', 'Triggered alerts'],
	]) {
		const boxes = await Promise.all(names.map((name) => card(name).boundingBox()));
		const links = await Promise.all(names.map((name) => card(name).locator('.home-link a').boundingBox()));
		expect(new Set(boxes.map((box) => Math.round(box?.height ?? 0))).size).toBe(1);
		expect(new Set(links.map((box) => Math.round(box?.y ?? 0))).size).toBe(1);
	}
	await pictured(page, 'home');
	await air.getByRole('button', { name: 'Remove Delhi' }).click();
	await expect.poll(() => air.locator('.home-list li > a').allTextContents()).toEqual(['Pune']);
	await page.getByRole('navigation', { name: 'Main' }).getByLabel('Language').selectOption('hi');
	await page.getByRole('heading', { name: 'आज के रिचार्ज' }).waitFor();
	await pictured(page, 'home-hindi');
	expect(faults).toEqual([]);
});

test('a key sees the cards of its scopes only, and no request is refused', async () => {
	const make = ['key', 'create', '--account', 'home-narrow', '--mode', 'sandbox', '--scopes', 'verify:read', '--quiet'];
	const key = (await command(inject('data'), ...make)).trim();
	const { page, faults } = await signedIn('/sessions', key);
	const refused: string[] = [];
	page.on('response', (response) => {
		if (response.status() >= 400) {
			refused.push(`${response.status()} ${response.url()}`);
		}
	});
	await page.goto('/dashboard/');
	await page.waitForURL('**/dashboard/home');
	await page.getByRole('heading', { name: 'Verifications today' }).waitFor();
	await page.getByRole('main').getByText('None today', { exact: true }).waitFor();
	expect(await page.getByRole('main').getByRole('heading', { level: 2 }).allTextContents()).toEqual(['Verifications today']);
	expect(refused).toEqual([]);
	expect(faults).toEqual([]);
});
