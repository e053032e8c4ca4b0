import { readFile } from 'node:fs/promises';
import { expect, inject, test } from 'vitest';
import { ask, pictured, signedIn } from './browser';
import { account } from './service';
import { masked } from './store';

test('the wallet is topped up, and a failed payment is reported', async () => {
	const { page, faults } = await signedIn('/wallet');
	await page.getByRole('button', { name: 'Top up' }).click();
	const dialog = page.getByRole('dialog');
	await dialog.getByLabel('Amount in rupees').fill('a lot');
	await dialog.getByRole('button', { name: 'Pay' }).click();
	await dialog.getByText('Enter an amount in rupees').waitFor();
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
	const timeline = page.locator('.timeline');
	await timeline.getByText('Charged for the recharge').waitFor();
	await timeline.getByText('recharge.completed').waitFor();
	// Other tests of the account may have a webhook for the event too.
	await expect.poll(() => timeline.getByRole('link', { name: 'Delivery', exact: true }).count()).toBeGreaterThan(0);
	expect(await timeline.getByText('recharge.create').count()).toBe(1);
	await pictured(page, 'recharge-timeline');

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
	await page.getByLabel('Expected name').fill('<script>alert(1)</script>');
	await page.getByLabel('IFSC').fill('nothing');
	await page.getByRole('button', { name: 'Verify', exact: true }).click();
	await page.getByText('The ifsc must have four letters').waitFor();
	await page.getByLabel('IFSC').fill('SBIN0000691');
	await page.getByRole('button', { name: 'Verify', exact: true }).click();
	await page.waitForURL('**/verifications/ver_*');
	await page.getByRole('main').getByRole('status').getByText('Exists, verified', { exact: true }).waitFor();
	await page.getByText('Banks have flagged this account: unusual activity.').waitFor();
	await page.getByText('the bank reports that it is active').waitFor();
	await page.locator('.timeline').getByText('verification.completed').first().waitFor();
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
	await page.getByRole('button', { name: 'Discard' }).click();
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
	await page.getByLabel('Skip these records').check();
	await page.getByText('10 verifications will be sent').waitFor();
	await pictured(page, 'batch-new');
	await page.getByRole('button', { name: 'Send the batch' }).click();
	await page.waitForURL('**/batches/bat_*');
	await page.getByText('9 exist, 1 does not exist', { exact: true }).waitFor();
	await page.getByRole('cell', { name: 'vpa_not_found' }).waitFor();
	await pictured(page, 'batch');
	const saving = page.waitForEvent('download');
	await page.getByRole('button', { name: 'Download as CSV' }).click();
	const text = await readFile(await (await saving).path(), 'utf8');
	expect(text.trim().split('\r\n')).toHaveLength(11);
	expect(text).not.toMatch(/(^|,)"?=/m);
	const results = page.getByRole('region', { name: 'Results' }).locator('tbody tr');
	await page.getByRole('button', { name: 'Exists (9)', exact: true }).click();
	await expect.poll(() => results.count()).toBe(9);
	await page.getByRole('button', { name: 'Does not exist (1)' }).click();
	await expect.poll(() => results.count()).toBe(1);
	await page.getByRole('button', { name: 'No answer (0)' }).click();
	await page.getByText('No such records').waitFor();
	await page.goBack();
	await page.getByRole('cell', { name: 'vpa_not_found' }).waitFor();
	expect(faults).toEqual([]);
});

test('a form shows all faults at once, and a batch with good rows is not called empty', async () => {
	const { page, faults } = await signedIn('/recharges/new');
	await page.getByLabel('Mobile number').fill('98765');
	await page.getByLabel('Amount in rupees').fill('1,00,000');
	await page.getByRole('button', { name: 'Recharge', exact: true }).click();
	await expect.poll(() => page.locator('input[aria-invalid="true"]').count()).toBe(2);
	await page.getByLabel('Amount in rupees').fill('a lot');
	await page.getByRole('button', { name: 'Recharge', exact: true }).click();
	await page.getByText('Enter an amount in rupees').waitFor();
	await page.getByText('Enter an Indian mobile number').waitFor();
	await pictured(page, 'recharge-faults');

	await page.goto('/dashboard/batches/new?kind=verification');
	await page.getByLabel('Or paste it here').fill('vpa,name\nsuccess@upi,Asha\npartial@upi,Meena\nno-address,Asha');
	await page.getByText('Problems: 1').waitFor();
	await page.getByText('Nothing is sent while there are problems.').waitFor();
	expect(await page.getByText('There is nothing to send yet.').count()).toBe(0);
	expect(faults).toEqual([]);
});

test('the search says how it works, and finds a whole reference', async () => {
	const ref = `whole-${crypto.randomUUID()}`;
	await ask('/v1/recharge', { mobile: '9000000001', operator: 'auto', amount: 10, type: 'prepaid', ref_id: ref });
	const { page, faults } = await signedIn('/recharges');
	const field = page.getByLabel('Number, reference or ID');
	const hint = page.locator(`[id="${(await field.getAttribute('aria-describedby'))?.split(' ')[0]}"]`);
	expect(await hint.textContent()).toMatch(
		/^Type the whole number, reference or ID and press Enter\..*masked \(XXXXXX3210\).*last four digits/,
	);
	await hint.waitFor();
	await field.fill('whole-');
	await field.press('Enter');
	await page.getByText('No recharges').waitFor();
	await field.fill(ref);
	await field.press('Enter');
	await page.getByRole('cell', { name: ref }).waitFor();
	expect(new URL(page.url()).searchParams.get('q')).toBe(ref);
	expect(faults).toEqual([]);
});

test('recharges are found by number, type, amount and id, with their totals, and saved as a table', async () => {
	const key = await account(inject('data'), 'search');
	await ask('/v1/wallet/topups', { amount: 5000, ref_id: 'search-topup' }, key);
	const send = (fields: object) => ask<{ transaction_id: string }>('/v1/recharge', { operator: 'auto', type: 'prepaid', ...fields }, key);
	const first = await send({ mobile: '9000000001', amount: 199.5, ref_id: '=search-1' });
	await send({ mobile: '9000000001', amount: 100.1, ref_id: 'search-2' });
	await send({ mobile: '9000000005', amount: 50, ref_id: '9000000001' });
	await send({ subscriber_id: '1023456789', operator: 'Tata Play', type: 'dth', amount: 350, ref_id: 'search-4' });
	const { page, faults } = await signedIn('/recharges', key);
	const rows = page.getByRole('region', { name: 'Recharges' }).locator('tbody tr');
	const total = (name: string) => page.locator('dl.facts > div').filter({ hasText: name }).locator('dd').first();
	await expect.poll(() => rows.count()).toBe(4);
	expect(await total('Total').textContent()).toBe('4 for ₹699.60');
	const search = page.getByLabel('Number, reference or ID');
	await search.fill('+91 90000-00001');
	await search.press('Enter');
	await expect.poll(() => rows.count()).toBe(2);
	expect(await total('Successful').textContent()).toBe('2 for ₹299.60');
	await search.fill('9000000001');
	await search.press('Enter');
	await expect.poll(() => rows.count()).toBe(3);
	await pictured(page, 'recharge-search');
	await page.getByLabel('Amount from (₹)').fill('150');
	await page.getByLabel('Amount from (₹)').press('Enter');
	await expect.poll(() => rows.count()).toBe(1);
	const saving = page.waitForEvent('download');
	await page.getByRole('button', { name: 'Save as recharges.csv' }).click();
	const lines = (await readFile(await (await saving).path(), 'utf8')).trim().split('\r\n');
	expect(lines).toHaveLength(2);
	expect(lines[1]).toContain(`success,${first.transaction_id},'=search-1,prepaid,9000000001,`);
	await page.getByLabel('Amount from (₹)').fill('a lot');
	await page.getByLabel('Amount from (₹)').press('Enter');
	await page.getByText('The amount_min must be an amount in rupees').waitFor();
	await page.getByRole('button', { name: 'Reset' }).click();
	await expect.poll(() => rows.count()).toBe(4);
	await page.getByLabel('Type').selectOption('dth');
	await page.getByRole('link', { name: '1023456789' }).waitFor();
	await expect.poll(() => rows.count()).toBe(1);
	await page.getByLabel('Language').selectOption('hi');
	await page.getByRole('button', { name: 'recharges.csv' }).waitFor();
	await page.getByLabel('नंबर, संदर्भ या आईडी').fill(first.transaction_id);
	await page.getByLabel('नंबर, संदर्भ या आईडी').press('Enter');
	await page.waitForURL(`**/recharges/${first.transaction_id}`);
	expect(faults).toEqual([]);
});

test('a recharge with real money is sent only after a confirmation', async () => {
	const { page, faults } = await signedIn('/recharges/new', inject('live'));
	const sent: string[] = [];
	await page.getByLabel('Amount in rupees').fill('199');
	await page.getByText('The wallet has ₹0.00: ₹199.00 short.').waitFor();
	expect(await page.getByRole('button', { name: 'Recharge', exact: true }).isDisabled()).toBe(true);
	await pictured(page, 'recharge-short');
	await page.getByRole('link', { name: 'Top up the wallet' }).click();
	await page.getByRole('button', { name: 'Top up', exact: true }).waitFor();
	await page.route('**/dashboard/v1/wallet', (route) =>
		route.fulfill({ json: { status: 'success', currency: 'INR', available: 500, held: 0, balance: 500 } }),
	);
	await page.goto('/dashboard/recharges/new');
	await page.getByText('₹500.00 available.').waitFor();
	await page.route('**/dashboard/v1/recharge', (route) => {
		sent.push(route.request().postData() ?? '');
		return route.abort();
	});
	await page.getByLabel('Mobile number').fill('9876543210');
	await page.getByLabel('Amount in rupees').fill('199');
	const send = page.getByRole('button', { name: 'Recharge', exact: true });
	const dialog = page.getByRole('dialog', { name: 'Recharge with real money?' });
	for (const leave of [() => page.keyboard.press('Escape'), () => dialog.getByRole('button', { name: 'Cancel' }).click()]) {
		await send.click();
		await dialog.getByText('9876543210').waitFor();
		await leave();
		await dialog.waitFor({ state: 'detached' });
	}
	expect(sent).toEqual([]);
	await send.click();
	await dialog.getByText('₹199.00', { exact: true }).waitFor();
	await pictured(page, 'recharge-live');
	await dialog.getByRole('button', { name: 'Recharge ₹199.00' }).click();
	await page.getByText('it is not executed twice').waitFor();
	expect(sent).toHaveLength(1);

	await page.goto('/dashboard/batches/new?kind=recharge');
	await page
		.getByLabel('Or paste it here')
		.fill('mobile,amount,operator,type,ref_id\n9876543210,199,auto,prepaid,live-1\n9876543211,201,auto,prepaid,live-2');
	await page.getByText('2 recharges for ₹400.00').waitFor();
	await page.getByRole('button', { name: 'Send the batch' }).click();
	const batch = page.getByRole('dialog', { name: 'Send recharges with real money?' });
	await batch.getByText('₹400.00', { exact: true }).waitFor();
	await batch.getByRole('button', { name: 'Cancel' }).click();
	expect(faults).toEqual([]);
});

test('the statement has the balance after each entry and at its ends, also as a table', async () => {
	const key = await account(inject('data'), 'statement');
	await ask('/v1/wallet/topups', { amount: 500, ref_id: 'statement-topup' }, key);
	await ask('/v1/recharge', { mobile: '9000000001', operator: 'auto', amount: 199, type: 'prepaid', ref_id: 'statement-1' }, key);
	await expect.poll(() => ask('/v1/wallet', undefined, key)).toMatchObject({ available: 301, held: 0 });
	const { page, faults } = await signedIn('/wallet', key);
	const table = page.getByRole('region', { name: 'Statement' });
	const cells = () =>
		table
			.locator('tbody tr')
			.evaluateAll((all) => all.map((row) => [...row.querySelectorAll('td')].slice(1, 5).map((cell) => cell.textContent)));
	await expect.poll(cells).toEqual([
		['Charged for the recharge', '−₹199.00 reserved', '₹301.00', '₹0.00'],
		['Reserved for a recharge', '−₹199.00 available+₹199.00 reserved', '₹301.00', '₹199.00'],
		['Paid in', '+₹500.00 available', '₹500.00', '₹0.00'],
	]);
	const fact = (name: string) => page.locator('dl.facts > div').filter({ hasText: name }).locator('dd').textContent();
	expect(await fact('Balance at the end')).toBe('₹301.00');
	expect(await fact('Balance at the beginning')).toBe('₹0.00');
	const saving = page.waitForEvent('download');
	await page.getByRole('button', { name: 'Save as wallet.csv' }).click();
	const lines = (await readFile(await (await saving).path(), 'utf8')).trim().split('\r\n');
	expect(lines.map((line) => line.split(',').slice(3).join(','))).toEqual([
		'available,held,available_after,held_after',
		'0,-199,301,0',
		'-199,199,301,199',
		'500,0,500,0',
	]);
	await pictured(page, 'wallet-statement');
	const search = page.getByLabel('Reference or ID');
	await search.fill('statement-2');
	await search.press('Enter');
	await page.getByText('No result for the reference or ID statement-2.').waitFor();
	await search.fill('statement-topup');
	await search.press('Enter');
	await expect.poll(() => table.locator('tbody tr').count()).toBe(1);
	await page.getByLabel('Language').selectOption('hi');
	await page.getByRole('button', { name: 'wallet.csv सहेजें' }).waitFor();
	expect(faults).toEqual([]);
});

test('totals are those of all matching rows, of which a page shows some', async () => {
	const key = await account(inject('data'), 'totals');
	await ask('/v1/wallet/topups', { amount: 5000, ref_id: 'totals-topup' }, key);
	const one = { mobile: '9000000001', operator: 'auto', amount: 10.5, type: 'prepaid' };
	const recharges = [...Array(60).keys()].map((i) => ({ ...one, ref_id: `totals-${i}` }));
	const { batch_id } = await ask<{ batch_id: string }>('/v1/recharge/batch', { recharges }, key);
	await expect
		.poll(async () => (await ask<{ state: string }>(`/v1/recharge/batch/${batch_id}`, undefined, key)).state, { timeout: 120_000 })
		.toBe('completed');
	const { page, faults } = await signedIn('/recharges', key);
	const rows = page.getByRole('region', { name: 'Recharges' }).locator('tbody tr');
	await expect.poll(() => rows.count()).toBe(50);
	const fact = (name: string) => page.locator('dl.facts > div').filter({ hasText: name }).locator('dd').first().textContent();
	expect(await fact('Total')).toBe('60 for ₹630.00');
	expect(await fact('Successful')).toBe('60 for ₹630.00');
	await page.getByLabel('State').selectOption('failed');
	await expect.poll(() => rows.count()).toBe(0);
	await page.goto('/dashboard/wallet');
	await expect.poll(() => page.getByRole('region', { name: 'Statement' }).locator('tbody tr').count()).toBe(50);
	expect(await fact('Balance at the end')).toBe('₹4,370.00');
	expect(await fact('Balance at the beginning')).toBe('₹0.00'); // although the payment is on a later page
	expect(await fact('Entries')).toBe('121');
	await page.getByText('50 of 121 shown', { exact: true }).waitFor();
	await pictured(page, 'wallet-totals');
	await page.getByLabel('Language').selectOption('hi');
	await expect.poll(() => fact('प्रविष्टियाँ')).toBe('121');
	expect(faults).toEqual([]);
});

test('verifications are filtered by method, with the number of all that match', async () => {
	const key = await account(inject('data'), 'methods');
	await ask('/v1/bank/verify', { vpa: 'success@upi', ref_id: 'method-1' }, key);
	await ask('/v1/bank/verify', { vpa: 'failure@upi', ref_id: 'method-2' }, key);
	await ask('/v1/bank/verify', { account_number: '123456780001', ifsc: 'HDFC0001234', ref_id: 'method-3' }, key);
	const { page, faults } = await signedIn('/verifications', key);
	const rows = page.getByRole('region', { name: 'Verifications' }).locator('tbody tr');
	const fact = (name: string) => page.locator('dl.facts > div').filter({ hasText: name }).locator('dd').first().textContent();
	await expect.poll(() => rows.count()).toBe(3);
	expect(await fact('Total')).toBe('3');
	await page.getByLabel('Method', { exact: true }).selectOption({ label: 'UPI address' });
	await expect.poll(() => rows.count()).toBe(2);
	expect(await fact('Total')).toBe('2');
	expect(await fact('Does not exist, or no answer')).toBe('1');
	expect(new URL(page.url()).searchParams.get('method')).toBe('upi');
	await pictured(page, 'verification-method');
	await page.getByRole('button', { name: 'Reset' }).click();
	await expect.poll(() => rows.count()).toBe(3);
	await page.getByLabel('Language').selectOption('hi');
	await page.getByLabel('तरीका').selectOption({ label: 'बैंक खाता' });
	await page.getByRole('link', { name: /0001$/ }).waitFor();
	await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
	await pictured(page, 'verification-method-hindi');
	expect(faults).toEqual([]);
});

test('a masked number finds the recharges that show it, and the search says so', async () => {
	const key = await account(inject('data'), 'masked');
	await ask('/v1/wallet/topups', { amount: 500, ref_id: 'masked-topup' }, key);
	const send = (ref_id: string) =>
		ask<{ transaction_id: string }>('/v1/recharge', { mobile: '9000000001', operator: 'auto', amount: 10, type: 'prepaid', ref_id }, key);
	await masked((await send('masked-old')).transaction_id);
	await send('masked-new');
	const { page, faults } = await signedIn('/recharges', key);
	const rows = page.getByRole('region', { name: 'Recharges' }).locator('tbody tr');
	await expect.poll(() => rows.count()).toBe(2);
	await page.getByText('which is masked (XXXXXX3210)').waitFor();
	const search = page.getByLabel('Number, reference or ID');
	await search.fill((await page.getByRole('link', { name: /^XXXXXX/ }).textContent()) ?? '');
	await search.press('Enter');
	await expect.poll(() => rows.count()).toBe(1);
	await page.getByRole('cell', { name: 'masked-old' }).waitFor();
	await search.fill('0001');
	await search.press('Enter');
	await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('0001');
	await expect.poll(() => rows.count()).toBe(1);
	await page.getByRole('cell', { name: 'masked-old' }).waitFor();
	await search.fill('9000000001');
	await search.press('Enter');
	await page.getByRole('cell', { name: 'masked-new' }).waitFor();
	await expect.poll(() => rows.count()).toBe(1);
	await pictured(page, 'recharge-masked');
	await page.getByLabel('Language').selectOption('hi');
	await page.getByText('उनके अंतिम चार अंक लिखें').waitFor();
	await page.goto('/dashboard/verifications');
	await page.getByText('छिपा हुआ नंबर खोजा नहीं जा सकता').waitFor();
	expect(faults).toEqual([]);
});
