import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { ask, signedIn } from './browser';
import { Receiver } from './receiver';

const patient = { timeout: 240_000 };

const money = new Intl.NumberFormat('en-IN', { style: 'currency', currency: 'INR' });

interface Recharge {
	status: string;
	amount: number;
	ref_id: string;
	completed_at?: string;
	refunded_at?: string;
	provider_ref: string;
	steps: { at: string }[];
}

/** opened follows a link of the main navigation. */
async function opened(page: Page, name: string): Promise<void> {
	await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }).click();
	await page.getByRole('heading', { name, level: 1 }).waitFor();
}

/** recharged submits a recharge with a sandbox number, and returns its id. */
async function recharged(page: Page, number: string): Promise<string> {
	await opened(page, 'Recharges');
	await page.getByRole('link', { name: 'New recharge' }).first().click();
	await page.getByRole('button', { name: number }).click();
	await page.getByLabel('Amount in rupees').fill('199');
	await page.getByRole('button', { name: 'Recharge', exact: true }).click();
	await page.waitForURL('**/recharges/txn_*');
	return new URL(page.url()).pathname.split('/').at(-1) ?? '';
}

/** agrees compares a recharge's page with the recharge of the API. */
async function agrees(page: Page, id: string): Promise<void> {
	const missing = async () => {
		const recharge = await ask<Recharge>(`/v1/recharge/${id}?view=detail`);
		const { data: postings } = await ask<{ data: { at: string; available: number; held: number }[] }>(`/v1/wallet/entries?subject=${id}`);
		const { data: events } = await ask<{ data: { id: string; type: string }[] }>(`/v1/events?subject=${id}`);
		const shownText = (await page.locator('main').textContent()) ?? '';
		const times = await page.locator('main time').evaluateAll((all) => all.map((one) => one.getAttribute('datetime')));
		const texts = [
			id,
			recharge.ref_id,
			money.format(recharge.amount),
			recharge.provider_ref,
			...events.flatMap(({ id, type }) => [id, type]),
		];
		const moments = [recharge.completed_at, recharge.refunded_at, ...recharge.steps.map(({ at }) => at), ...postings.map(({ at }) => at)];
		return [
			...texts.filter((text) => !shownText.includes(text)),
			...moments.filter((moment) => moment !== undefined && !times.includes(moment)),
			...(postings.length > 0 && events.length > 0 ? [] : ['postings and events']),
		];
	};
	await expect.poll(missing, patient).toEqual([]);
}

test('a first-time user finds the air, receives webhook events and makes recharges', async () => {
	const receiver = await Receiver.start();
	const { page, faults } = await signedIn();

	// Air quality of Delhi.
	await page.getByRole('combobox', { name: 'City or pin code' }).fill('Delh');
	await page
		.getByRole('listbox', { name: 'City or pin code' })
		.getByRole('option', { name: /^Delhi/ })
		.first()
		.click();
	await page.getByRole('heading', { name: 'Delhi', level: 1 }).waitFor();
	const index = async () => Number(await page.locator('.current .index b').textContent());
	const same = async () => (await index()) === (await ask<{ aqi: number }>('/v1/aqi?city=Delhi')).aqi;
	await page.locator('.current').waitFor();
	await expect.poll(same, patient).toBe(true);

	// A webhook and its test event.
	await opened(page, 'Webhooks');
	await page.getByRole('link', { name: 'Add webhook' }).first().click();
	await page.getByLabel('URL', { exact: true }).fill(receiver.url);
	await page.getByRole('button', { name: 'All', exact: true }).click();
	await page.getByRole('button', { name: 'Save webhook' }).click();
	await page.getByText('Webhook saved').waitFor();
	const followed = page.locator('.wh-followed');
	const fired = page.getByRole('button', { name: 'Send test event' });
	await fired.click();
	await followed.getByText('Delivered', { exact: true }).waitFor(patient);
	await followed.getByText(/^HTTP 200,/).waitFor();
	expect(receiver.got).toHaveLength(1);

	// The receiver fails, and the page shows the reason.
	receiver.status = 503;
	receiver.says = 'out of order';
	await fired.click();
	await followed.getByText(/^HTTP 503,/).waitFor(patient);
	await page.getByRole('link', { name: 'Open the delivery' }).click();
	await page.getByText('Response body').first().click();
	await page.getByText('out of order', { exact: true }).first().waitFor();

	// The receiver recovers between two attempts, and a manual retry replaces the wait for the next one.
	await page.getByText('2 of 8', { exact: true }).waitFor(patient);
	receiver.status = 200;
	await page.getByRole('button', { name: 'Deliver now' }).click();
	await page.getByText('Delivered again as').getByRole('link').click();
	await page.getByText('A repeat of').waitFor();
	await page.locator('.badge').getByText('Delivered', { exact: true }).waitFor(patient);
	expect(new Set(receiver.got.map((got) => got.headers['x-service-event-id'])).size).toBe(2);

	// Wallet and recharges.
	await opened(page, 'Wallet');
	await page.getByRole('button', { name: 'Top up' }).click();
	await page.getByRole('dialog').getByLabel('Amount in rupees').fill('5000');
	await page.getByRole('dialog').getByRole('button', { name: 'Pay' }).click();
	await page.getByRole('cell', { name: '+₹5,000.00' }).first().waitFor();

	const good = await recharged(page, '9000000001');
	await page.getByText('Final state').waitFor(patient);
	const timeline = page.locator('.timeline');
	await timeline.getByText('Charged for the recharge').waitFor(patient);
	await timeline.getByText('recharge.completed').first().waitFor(patient);
	await timeline.getByText('Delivered', { exact: true }).first().waitFor(patient);
	await agrees(page, good);

	const slow = await recharged(page, '9000000002');
	await page.getByText('Waiting for the operator', { exact: true }).waitFor();
	await page.getByText('Successful', { exact: true }).first().waitFor(patient);
	await agrees(page, slow);

	const back = await recharged(page, '9000000006');
	await page.getByText('Refunded', { exact: true }).first().waitFor(patient);
	await timeline.getByText('Refunded after it was charged').waitFor(patient);
	await agrees(page, back);

	await opened(page, 'Wallet');
	const wallet = async () => {
		const { available, held, balance } = await ask<{ available: number; held: number; balance: number }>('/v1/wallet');
		const shown = await page.locator('.balances .amount').allTextContents();
		return shown.join() === [available, held, balance].map((amount) => money.format(amount)).join();
	};
	await page.locator('.balances').waitFor();
	await expect.poll(wallet, patient).toBe(true);
	expect(faults).toEqual([]);
});
