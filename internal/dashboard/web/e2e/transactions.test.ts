import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { ask, pictured, signedIn } from './browser';

test('the wallet is topped up, and a failed payment is reported', async () => {
	const { page, faults } = await signedIn('/wallet');
	await page.getByRole('button', { name: 'Top up' }).click();
	const dialog = page.getByRole('dialog');
	await dialog.getByLabel('Amount in rupees').fill('a lot');
	await dialog.getByRole('button', { name: 'Pay' }).click();
	await dialog.getByText('Write an amount in rupees').waitFor();
	await dialog.getByLabel('Amount in rupees').fill('10.13');
	await dialog.getByRole('button', { name: 'Pay' }).click();
	await dialog.getByText('Nothing was paid').waitFor();
	await dialog.getByLabel('Amount in rupees').fill('50,000');
	await dialog.getByRole('button', { name: 'Pay' }).click();
	await page.getByRole('cell', { name: '+₹50,000.00' }).first().waitFor();
	const { available } = await ask<{ available: number }>('/v1/wallet');
	const shown = new Intl.NumberFormat('en-IN', { style: 'currency', currency: 'INR' }).format(available);
	await page.getByText(shown, { exact: true }).first().waitFor();
	await pictured(page, 'wallet');
	expect(faults).toEqual([]);
});

test('a recharge is made once although its reply is lost, and its timeline follows the progress', async () => {
	await ask('/v1/wallet/topups', { amount: 5000 });
	await ask('/v1/webhooks', { url: 'https://127.0.0.1:9/hook', events: ['recharge.completed'] });
	const { page, faults } = await signedIn('/recharges/new');
	await page.getByRole('button', { name: '9000000002' }).click();
	await page.getByText('Plans of Airtel, Delhi').waitFor();
	await page.getByRole('button', { name: '₹199.00' }).click();
	await pictured(page, 'recharge-new');
	const sent: string[] = [];
	await page.route('**/dashboard/v1/recharge', async (route) => {
		sent.push(route.request().postData() ?? '');
		if (sent.length > 1) {
			return route.continue();
		}
		await route.fetch();
		return route.abort();
	});
	const send = page.getByRole('button', { name: 'Recharge', exact: true });
	await send.click();
	await page.getByText('it is not executed twice').waitFor();
	await send.click();
	await page.waitForURL('**/recharges/txn_*');
	expect(sent[1]).toBe(sent[0]);
	await page.getByText('Waiting for the operator', { exact: true }).waitFor();
	await page.getByText('Final state').waitFor();
	const story = page.locator('.story');
	await story.getByText('Charged for the recharge').waitFor();
	await story.getByText('recharge.completed').waitFor();
	await story.getByRole('link', { name: /Delivery to wh_/ }).waitFor();
	expect(await story.getByText('recharge.create').count()).toBe(1);
	await pictured(page, 'recharge-story');

	await page.getByRole('button', { name: 'Refund' }).click();
	const reason = '<img src=x onerror=alert(1)>';
	await page.getByLabel('Reason').fill(reason);
	await page.getByRole('button', { name: 'Refund ₹199.00' }).click();
	await page.getByText('Refunded', { exact: true }).waitFor();
	await page.getByText(reason, { exact: true }).waitFor();
	expect(faults).toEqual([]);
});

test('a rejected recharge shows the reason and links to the wallet', async () => {
	await ask('/v1/wallet/topups', { amount: 5000 });
	const { page, faults } = await signedIn('/recharges/new');
	await page.getByRole('button', { name: '9000000005' }).click();
	await page.getByLabel('Amount in rupees').fill('199');
	const ref = await page.getByLabel('Your reference').inputValue();
	await page.getByRole('button', { name: 'Recharge', exact: true }).click();
	await page.getByText('The recharge was recorded as failed').waitFor();
	await page.getByRole('link', { name: 'Top up the wallet' }).waitFor();
	expect(await page.getByLabel('Your reference').inputValue()).not.toBe(ref);
	await page.goto(`/dashboard/recharges?ref_id=${ref}`);
	await page.getByRole('cell', { name: 'Failed', exact: true }).waitFor();
	expect(faults).toEqual([]);
});

test('a verification shows its result with reasons, and a hostile name stays text', async () => {
	const { page, faults } = await signedIn('/verifications/new');
	await page.getByRole('button', { name: '00112233440008' }).click();
	await page.getByLabel('Name you expect').fill('<script>alert(1)</script>');
	await page.getByLabel('IFSC').fill('nothing');
	await page.getByRole('button', { name: 'Verify', exact: true }).click();
	await page.getByText('The ifsc must have four letters').waitFor();
	await page.getByLabel('IFSC').fill('SBIN0000691');
	await page.getByRole('button', { name: 'Verify', exact: true }).click();
	await page.waitForURL('**/verifications/ver_*');
	await page.getByText('Banks have flagged this account').waitFor();
	await page.getByText('the bank reports that it is active').waitFor();
	await page.locator('.story').getByText('verification.completed').first().waitFor();
	await pictured(page, 'verification');
	expect(faults).toEqual([]);
});

test('ten thousand pasted records are checked without being laid out', async () => {
	const { page, faults } = await signedIn('/batches/new?kind=recharge');
	await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
	await page.evaluate(() => {
		const tasks: number[] = [];
		Object.assign(window, { tasks });
		new PerformanceObserver((list) => tasks.push(...list.getEntries().map((entry) => Math.round(entry.duration)))).observe({
			type: 'longtask',
		});
		const lines = Array.from({ length: 10_000 }, (_, i) => `${9_000_000_000 + i},199,auto,prepaid,r-${i}`);
		return navigator.clipboard.writeText(`mobile,amount,operator,type,ref_id\n${lines.join('\n')}`);
	});
	await page.getByLabel('Or paste it here').focus();
	await page.keyboard.press('ControlOrMeta+V');
	await page.getByText('too many to edit here').waitFor();
	await page.getByText(/^10,000 recharges for/).waitFor();
	await page.route('**/dashboard/v1/recharge/batch', (route) => route.abort());
	await page.getByRole('button', { name: 'Send the batch' }).click();
	await page.getByText('it is not executed twice').waitFor();
	const tasks = await page.evaluate(() => (window as unknown as { tasks: number[] }).tasks);
	console.info(`longest task with a batch of 10,000: ${Math.max(0, ...tasks)} ms, of ${tasks.length} over 50 ms`);
	await page.getByRole('button', { name: 'Discard it' }).click();
	await page.getByLabel('Or paste it here').waitFor();
	expect(faults).toEqual([]);
});

test('a batch is previewed before it is sent, its progress updates itself, and its results are saved for a spreadsheet', async () => {
	const { page, faults } = await signedIn('/batches/new?kind=verification');
	const lines = [
		'vpa,name',
		...Array.from({ length: 9 }, (_, i) => `success@upi,=Asha(${i})`),
		'failure@upi,Asha Rao',
		'no-address,Asha Rao',
	];
	await page.getByLabel('Or paste it here').fill(lines.join('\n'));
	await page.getByText('Problems: 1').waitFor();
	expect(await page.getByRole('button', { name: 'Send the batch' }).isDisabled()).toBe(true);
	await page.getByLabel('Leave these records out').check();
	await page.getByText('10 verifications will be sent').waitFor();
	await pictured(page, 'batch-new');
	await page.getByRole('button', { name: 'Send the batch' }).click();
	await page.waitForURL('**/batches/bat_*');
	await page.getByText('10 of 10 done').waitFor();
	await page.getByRole('cell', { name: 'does not exist' }).or(page.getByText('vpa_not_found')).first().waitFor();
	await pictured(page, 'batch');
	const saving = page.waitForEvent('download');
	await page.getByRole('button', { name: 'Download as CSV' }).click();
	const text = await readFile(await (await saving).path(), 'utf8');
	expect(text.trim().split('\r\n')).toHaveLength(11);
	expect(text).not.toMatch(/(^|,)"?=/m);
	await page.getByRole('link', { name: /Failed or refused/ }).click();
	await page.getByText('1 have failed or were refused').waitFor();
	expect(faults).toEqual([]);
});
