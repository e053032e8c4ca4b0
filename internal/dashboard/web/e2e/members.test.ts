import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessible, phone, pictured, signedIn, visit } from './browser';
import { command, type Service, start } from './service';

let service: Service;
const used = new Set<string>();

/** admin is a live key that can manage people. */
let admin = '';

beforeAll(async () => {
	service = await start();
	const key = ['key', 'create', '--account', 'default', '--mode', 'live', '--name', 'admin', '--scopes', 'all', '--quiet'];
	admin = (await command(service.data, ...key)).trim();
});
afterAll(() => service.stop());

/** linkTo returns the link in the next mail to an address. The mail is a file, because the service has no mail server. */
async function linkTo(email: string): Promise<string> {
	let link = '';
	const find = async () => {
		const folder = join(service.data, 'mail');
		for (const file of await readdir(folder).catch(() => [])) {
			const mail = (await readFile(join(folder, file), 'utf8')).replace(/=\r\n/g, '').replace(/=3D/g, '=');
			if (mail.includes(`<${email}>`) && !used.has(file)) {
				link = /http\S+\/dashboard(\/sign-in#\S+)/.exec(mail)?.[1] ?? '';
				used.add(file);
			}
		}
		return link;
	};
	await expect.poll(find).not.toBe('');
	return link;
}

async function invite(page: Page, email: string, role: string): Promise<string> {
	await page.getByRole('button', { name: 'Add a person' }).click();
	const dialog = page.getByRole('dialog');
	await dialog.getByLabel('E-mail address').fill(email);
	await dialog.getByRole('radio', { name: new RegExp(`^${role}`) }).check();
	await pictured(page, 'members-add');
	await dialog.getByRole('button', { name: 'Add a person' }).click();
	await page.getByRole('row', { name: new RegExp(email) }).waitFor();
	return linkTo(email);
}

test('a person is added, signs in with a link, switches the mode, and is removed', async () => {
	const owner = await signedIn('/members', admin, service.base);
	await owner.page.getByText('No people yet').waitFor();
	const link = await invite(owner.page, 'asha@example.com', 'Finance');
	await pictured(owner.page, 'members');

	const asha = await visit(link, service.base);
	await asha.page.getByRole('heading', { name: 'Sign in with this link' }).waitFor();
	await asha.page.locator('.about').getByText('Vayu', { exact: true }).waitFor();
	await pictured(asha.page, 'signin-link');
	await asha.page.getByRole('button', { name: 'Sign in' }).click();
	await asha.page.getByText('Live', { exact: true }).waitFor();
	await asha.page.getByText('asha@example.com').waitFor();
	expect(await asha.page.getByRole('link', { name: 'People' }).count()).toBe(0);
	const tab = await asha.page.context().newPage();
	await tab.goto('/dashboard/wallet');
	await tab.getByText('Live', { exact: true }).waitFor();

	await asha.page.getByRole('button', { name: 'Switch to sandbox' }).click();
	await asha.page.getByText('Nothing here is real or charged').waitFor();
	await tab.getByText('Nothing here is real or charged').waitFor();
	await pictured(asha.page, 'members-sandbox');
	await asha.page.getByRole('button', { name: 'Switch to live' }).click();
	await asha.page.getByRole('button', { name: 'Switch to sandbox' }).waitFor();
	expect(await asha.page.getByText('Nothing here is real or charged').count()).toBe(0);

	const again = await visit(link, service.base);
	await again.page.getByRole('button', { name: 'Sign in' }).click();
	await again.page.getByText('The link is invalid, used or expired').waitFor();
	await again.page.getByRole('heading', { name: 'This link does not work', level: 1 }).waitFor();
	await pictured(again.page, 'signin-link-used');

	await owner.page.getByRole('navigation').getByRole('link', { name: 'Usage' }).click();
	await owner.page.getByRole('region', { name: 'By key or person' }).getByRole('row', { name: 'asha@example.com' }).waitFor();
	await pictured(owner.page, 'members-usage');
	await owner.page.goto('/dashboard/members');
	const row = owner.page.getByRole('row', { name: /asha@example.com/ });
	expect(await row.getByText('not yet').count()).toBe(0);
	await row.getByRole('button', { name: 'Role' }).click();
	await owner.page.getByRole('radio', { name: /^Viewer/ }).check();
	await owner.page.getByRole('button', { name: 'Save' }).click();
	await row.getByText('Viewer').waitFor();
	await row.getByRole('button', { name: 'Remove' }).click();
	await owner.page.getByText('The person is signed out everywhere').waitFor();
	await owner.page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
	await owner.page.getByText('No people yet').waitFor();
	await asha.page.getByRole('navigation').getByRole('link', { name: 'Usage' }).click();
	await asha.page.getByText('Your access to the account has ended').waitFor();
	await pictured(asha.page, 'members-removed');
	expect([...owner.faults, ...asha.faults, ...again.faults]).toEqual([]);
});

test('the operator adds an owner, who signs in by keyboard alone', async () => {
	await command(service.data, 'account', 'member', 'add', 'default', 'ravi@example.com');
	const { page, faults } = await visit('/', service.base);
	await page.getByLabel('E-mail address').focus();
	await page.keyboard.type('ravi@example.com');
	await page.keyboard.press('Enter');
	await page.getByText('If ravi@example.com belongs to an account here').waitFor();
	const link = await linkTo('ravi@example.com');
	const opened = await visit(link, service.base);
	await opened.page.getByRole('button', { name: 'Sign in' }).waitFor();
	await opened.page.keyboard.press('Tab'); // the first link is that of the API reference
	await opened.page.keyboard.press('Tab');
	await opened.page.keyboard.press('Enter');
	await opened.page.getByRole('heading', { name: 'Map and cities' }).waitFor(); // a new page takes the focus
	await opened.page.getByRole('link', { name: 'People' }).press('Enter');
	await opened.page.getByText('you', { exact: true }).waitFor();
	expect([...faults, ...opened.faults]).toEqual([]);
});

test('a session of a key needs a key of the other mode once', async () => {
	const { page, faults } = await signedIn('/members', service.sandbox, service.base);
	const requested: string[] = [];
	page.on('request', (request) => requested.push(new URL(request.url()).pathname));
	await page.reload();
	await page.getByText('They can be seen and changed in live only').waitFor();
	expect(requested).toContain('/dashboard/v1/sessions/current');
	expect(requested).not.toContain('/dashboard/v1/members');
	await pictured(page, 'members-note');
	await page.getByRole('main').getByRole('button', { name: 'Switch to live' }).click();
	const dialog = page.getByRole('dialog');
	await dialog.getByLabel('Live key').fill(service.sandbox);
	await dialog.getByRole('button', { name: 'Switch to live' }).click();
	await page.getByText('This is not an active live key of this account.').waitFor();
	await pictured(page, 'mode-key');
	await dialog.getByLabel('Live key').fill(service.live);
	await dialog.getByRole('button', { name: 'Switch to live' }).click();
	await page.getByRole('button', { name: 'Switch to sandbox' }).click();
	await page.getByText('Nothing here is real or charged').waitFor();
	await page.getByRole('banner').getByRole('button', { name: 'Switch to live' }).click();
	await page.getByRole('button', { name: 'Switch to sandbox' }).waitFor();
	expect(await page.getByRole('dialog').count()).toBe(0);
	expect(faults).toEqual([]);
});

test('the pages fit a phone, in Hindi and in the dark', async () => {
	const options = { ...phone, locale: 'hi-IN', colorScheme: 'dark' as const };
	const seen = await visit('/', service.base, options);
	await seen.page.getByLabel('ई-मेल पता').fill('x@example.com');
	await seen.page.getByRole('button', { name: 'लिंक भेजें' }).click();
	await seen.page.getByText('यदि x@example.com यहाँ किसी खाते में है').waitFor();
	await accessible(seen.page);
	await pictured(seen.page, 'signin-phone');
	const { page, faults } = await signedIn('/members', admin, service.base);
	await page.setViewportSize({ width: 360, height: 740 });
	await page.getByRole('button', { name: 'Switch to sandbox' }).waitFor();
	const line = (await page.locator('.bar .menu').boundingBox())?.height ?? 0;
	expect((await page.locator('.bar').boundingBox())?.height).toBeLessThan(3 * line);
	await pictured(page, 'members-phone');
	expect([...seen.faults, ...faults]).toEqual([]);
});
