import { expect, inject, test } from 'vitest';
import { ask, signedIn } from './browser';
import { account } from './service';

const hostile = '<img src=x onerror="document.title=\'taken\'"><script>document.title="taken"</script>';

test('names that contain scripts are shown as text, wherever users or receivers can set them', async () => {
	const key = await account(inject('data'), 'worlds-hostile', hostile);
	await ask('/v1/wallet/topups', { amount: 500, ref_id: 'hostile-topup' }, key);
	const recharge = await ask<{ transaction_id: string }>(
		'/v1/recharge',
		{ mobile: '9000000001', operator: 'auto', amount: 10, type: 'prepaid', ref_id: hostile },
		key,
	);
	const verification = await ask<{ verification_id: string }>(
		'/v1/bank/verify',
		{ vpa: 'success@upi', name: hostile, ref_id: hostile },
		key,
	);
	expect([recharge.transaction_id, verification.verification_id].every(Boolean)).toBe(true);
	const webhook = await ask<{ id: string }>(
		'/v1/webhooks',
		{ url: `https://127.0.0.1:9/${encodeURIComponent(hostile)}`, events: ['recharge.completed'] },
		key,
	);
	const { page, faults } = await signedIn('/keys', key);
	for (const path of [
		'/keys',
		'/sources',
		'/audit',
		'/sessions',
		'/recharges',
		`/recharges/${recharge.transaction_id}`,
		'/verifications',
		`/verifications/${verification.verification_id}`,
		'/wallet',
		'/webhooks',
		`/webhooks/${webhook.id}`,
		'/deliveries',
		`/recharges?ref_id=${encodeURIComponent(hostile)}`,
		`/air/${encodeURIComponent(hostile.replaceAll('/', ''))}`, // place names have no slash, and the route matches none
		`/compare?city=${encodeURIComponent(hostile)}`,
	]) {
		await page.goto(`/dashboard${path}`);
		await expect.poll(() => page.getByRole('heading', { level: 1 }).count(), { message: path, timeout: 120_000 }).toBe(1);
		await expect.poll(() => page.locator('.spinner').count(), { message: path, timeout: 120_000 }).toBe(0);
		expect(await page.title(), path).not.toBe('taken');
		expect(await page.locator('img[src="x"]').count(), path).toBe(0);
	}
	expect(faults).toEqual([]);
});

test('an unavailable service is reported, and pages recover without a reload', async () => {
	const { page } = await signedIn('/usage');
	await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor();
	await page.context().setOffline(true);
	await page.getByRole('link', { name: 'Audit log' }).click();
	await page.getByText('This part cannot be shown').waitFor();
	await page.context().setOffline(false);
	// When its stream is open again, the page tries again by itself.
	const again = page.getByRole('button', { name: 'Try again' });
	await again.click({ timeout: 10_000 }).catch(() => undefined);
	await page.getByRole('region', { name: 'Audit log' }).waitFor();
});

test('a 503 of the service ends no session', async () => {
	const { page } = await signedIn('/usage');
	await page.route('**/dashboard/v1/**', (route) => route.fulfill({ status: 503, contentType: 'application/json', body: '{}' }));
	await page.reload();
	await page.getByRole('button', { name: 'Try again' }).waitFor();
	await page.unroute('**/dashboard/v1/**');
	await page.getByRole('button', { name: 'Try again' }).click();
	await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor();
});

test('on a slow network a loading message is shown, and the first load is small', async () => {
	const { page } = await signedIn('/usage');
	await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor();
	const answers = await page.evaluate(() =>
		(performance.getEntriesByType('resource') as PerformanceResourceTiming[])
			.filter((entry) => entry.name.includes('/dashboard/assets/'))
			.map((entry) => entry.encodedBodySize),
	);
	const whole = answers.reduce((sum, size) => sum + size, 0);
	expect(whole).toBeGreaterThan(10_000);
	expect(whole).toBeLessThan(200 * 1024);
	await page.route('**/dashboard/v1/audit*', async (route) => {
		await page.getByText('Loading').first().waitFor();
		await route.continue();
	});
	await page.getByRole('link', { name: 'Audit log' }).click();
	await page.getByRole('region', { name: 'Audit log' }).waitFor();
});

test('pages fetch nothing from other hosts', async () => {
	const { page } = await signedIn('/');
	const hosts = new Set<string>();
	page.on('request', (request) => hosts.add(new URL(request.url()).host));
	for (const name of ['Compare cities', 'Recharges', 'Webhooks', 'Usage']) {
		await page.getByRole('link', { name }).click();
		await page.getByRole('heading', { level: 1 }).waitFor();
	}
	expect([...hosts]).toEqual([new URL(inject('base')).host]);
});
