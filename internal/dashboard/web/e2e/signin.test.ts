import { expect, inject, test } from 'vitest';
import { ask, phone, pictured, signedIn, visit } from './browser';
import { command } from './service';

test('a key is exchanged for a session, and scripts can read neither', async () => {
	const { page, faults } = await signedIn();
	expect(await page.evaluate(() => document.cookie)).toBe('');
	const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
	expect(kept).not.toContain('sk_');
	const [cookie] = await page.context().cookies();
	expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/dashboard' });
	expect(faults).toEqual([]);
});

test('an unknown key is rejected at its field', async () => {
	const { page } = await visit();
	await page.getByLabel('API key').fill(`sk_test_${'a'.repeat(39)}`);
	await page.getByRole('button', { name: 'Sign in' }).click();
	await page.getByText('This key is not valid').waitFor();
	await pictured(page, 'signin');
});

test('live and sandbox cannot be confused', async () => {
	const sandbox = await signedIn();
	await sandbox.page.getByText('Nothing here is real or charged').waitFor();
	const live = await signedIn('/', inject('live'));
	await live.page.getByText('Live', { exact: true }).waitFor();
	expect(await live.page.getByText('Nothing here is real or charged').count()).toBe(0);
});

test('on a phone the header is one row of targets for a finger, and the menu holds language and colours', async () => {
	const { page } = await visit('/pin/411001', inject('base'), { ...phone, viewport: { width: 360, height: 740 } });
	await page.getByLabel('API key').fill(inject('sandbox'));
	await page.getByRole('button', { name: 'Sign in' }).click();
	const account = page.getByRole('button', { name: /^Account: / });
	await account.waitFor();
	const buttons = [page.getByRole('button', { name: 'Menu' }), page.getByRole('button', { name: 'Switch to live' }), account];
	const boxes = await Promise.all(buttons.map((button) => button.boundingBox()));
	for (const box of boxes) {
		expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(44);
		expect(box?.y).toBe(boxes[0]?.y);
	}
	expect((await page.locator('.bar').boundingBox())?.height).toBeLessThan(70);
	const leave = page.getByRole('button', { name: 'Sign out' });
	expect(await leave.isVisible()).toBe(false);
	await account.tap();
	await leave.waitFor();
	await account.tap();
	await leave.waitFor({ state: 'hidden' });
	expect(await page.getByLabel('Language').isVisible()).toBe(false);
	await page.getByRole('button', { name: 'Menu' }).click();
	await page.getByRole('link', { name: 'Map and cities' }).and(page.locator('[aria-current=page]')).waitFor();
	await page.getByLabel('Theme').selectOption('dark');
	expect(await page.getAttribute('html', 'data-theme')).toBe('dark');
});

test('a deep link survives signing in', async () => {
	const { page } = await signedIn('/audit?action=key.');
	await page.getByRole('heading', { name: 'Audit log', level: 1 }).waitFor();
	expect(page.url()).toContain('/dashboard/audit?action=key.');
});

test('a session that ends leads to the sign-in page, and signing in returns to the same page', async () => {
	const made = await command(inject('data'), 'key', 'create', '--account', 'default', '--mode', 'sandbox', '--name', 'short');
	const key = /sk_test_\w{39}/.exec(made)?.[0] ?? '';
	const { page, faults } = await signedIn('/usage', key);
	await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor();
	const id = /key_\w{26}/.exec(made)?.[0] ?? '';
	await command(inject('data'), 'key', 'revoke', id);
	// The service reads changes by other processes within a second.
	await expect.poll(async () => (await ask<{ status?: string }>('/v1/usage', undefined, key)).status).toBe('error');
	// The page can notice it before the click.
	const ended = page.getByText('The session has ended');
	await page.getByRole('link', { name: 'Audit log' }).or(ended).click();
	await ended.waitFor();
	const heading = page.url().endsWith('/audit') ? 'Audit log' : 'Usage';
	await page.getByLabel('API key').fill(inject('sandbox'));
	await page.getByRole('button', { name: 'Sign in' }).click();
	await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
	expect(faults).toEqual([]);
});

test('signing out applies to other tabs, and everywhere to other browsers', async () => {
	const first = await signedIn('/sessions');
	const tab = await first.page.context().newPage();
	await tab.goto('/dashboard/usage');
	await tab.getByRole('heading', { name: 'Usage', level: 1 }).waitFor();
	const elsewhere = await signedIn('/sessions');
	await first.page.getByRole('button', { name: 'Sign out everywhere' }).click();
	await first.page.getByText('You have signed out').waitFor();
	await tab.getByText('You have signed out').waitFor();
	const ended = elsewhere.page.getByText('The session has ended');
	await elsewhere.page.getByRole('link', { name: 'Usage' }).or(ended).click();
	await ended.waitFor();
});

test('the sign-in page works by keyboard alone, and in Hindi', async () => {
	const { page } = await visit();
	await page.getByLabel('API key').waitFor();
	await page.keyboard.type(inject('sandbox'));
	await page.keyboard.press('Enter');
	await page.getByRole('navigation', { name: 'Main' }).waitFor();
	await page.getByLabel('Language').selectOption('hi');
	await page.getByRole('navigation', { name: 'मुख्य' }).waitFor();
	expect(await page.getAttribute('html', 'lang')).toBe('hi');
});
