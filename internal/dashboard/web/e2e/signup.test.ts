import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask, pictured, type Seen, signedIn, visit } from './browser';
import { command, type Service, start } from './service';

let service: Service;

beforeAll(async () => {
	service = await start('--signup-mode', 'invite');
});
afterAll(() => service.stop());

const account = 'Create an account';

/** linkOf returns the link in the mail of an account, which is a file because the service has no mail server. */
async function linkOf(id: string): Promise<string> {
	const file = join(service.data, 'mail', `${id}.eml`);
	await expect.poll(() => readFile(file, 'utf8').catch(() => '')).toContain('confirm#');
	const mail = (await readFile(file, 'utf8')).replace(/=\r\n/g, '').replace(/=3D/g, '=');
	return /http\S+\/dashboard(\/signup\/confirm#\S+)/.exec(mail)?.[1] ?? '';
}

/** invited fills the form with an address and a new invite code, and sends it. It returns the id of the account. */
async function invited({ page }: Seen, button: string): Promise<string> {
	const code = await command(service.data, 'account', 'invite', '--expires', '1h');
	const [email, invite] = [page.getByRole('textbox').nth(0), page.getByRole('textbox').nth(1)];
	await email.fill('asha@example.com');
	await invite.fill(code.trim());
	const reply = page.waitForResponse('**/v1/signup');
	await page.getByRole('button', { name: button }).click();
	return ((await (await reply).json()) as { account_id: string }).account_id;
}

test('a person signs up, confirms the address and signs in', async () => {
	const seen = await visit('/', service.base);
	const { page, faults } = seen;
	await page.getByRole('link', { name: account }).click();
	await page.getByLabel('E-mail address').fill('asha@example.com');
	await page.getByLabel('Invite code').fill('inv_unknown');
	await page.getByRole('button', { name: account }).click();
	await page.getByText('The invite code is unknown, used or expired').waitFor();
	await pictured(page, 'signup');
	const id = await invited(seen, account);
	const sandbox = (await page.getByText(/^sk_test_\w{39}$/).textContent()) ?? '';
	await page.getByText('A link is on its way to asha@example.com').waitFor();
	await page.getByRole('heading', { name: 'Your account is ready', level: 1 }).waitFor();
	expect(await page.title()).toBe('Your account is ready · Vayu');
	await page.keyboard.press('Escape');
	await page.getByText(sandbox).waitFor();
	await page.getByText('Your invite code is used up').waitFor();
	await page.getByRole('button', { name: 'Sign up with a new code' }).waitFor();
	await pictured(page, 'signup-made');

	const link = await linkOf(id);
	const confirm = await visit(link, service.base);
	await confirm.page.getByRole('button', { name: 'Confirm the address' }).waitFor();
	expect((await ask<{ plan?: string }>('/v1/account', undefined, sandbox, service.base)).plan).toBe('free');
	await pictured(confirm.page, 'signup-confirm');
	await confirm.page.getByRole('button', { name: 'Confirm the address' }).click();
	const live = (await confirm.page.getByText(/^sk_live_\w{39}$/).textContent()) ?? '';
	await confirm.page.keyboard.press('Escape');
	await confirm.page.getByText(live).waitFor();
	await pictured(confirm.page, 'signup-confirmed');

	const again = await visit(link, service.base);
	await again.page.getByRole('button', { name: 'Confirm the address' }).click();
	await again.page.getByText('The address was confirmed before').waitFor();
	await again.page.getByText('you can sign in with a link and create a new key').waitFor();
	await again.page.getByRole('link', { name: 'Go to the sign-in page' }).waitFor();
	await pictured(again.page, 'signup-repeated');
	expect(await again.page.getByText('sk_live_').count()).toBe(0);

	await confirm.page.getByRole('button', { name: 'Open the dashboard' }).click();
	await confirm.page.getByText('Live', { exact: true }).waitFor();
	const signed = await signedIn('/', live, service.base);
	await signed.page.getByText('Live', { exact: true }).waitFor();
	expect([...faults, ...confirm.faults, ...again.faults]).toEqual([]);
});

test('the pages are in Hindi too, and a known address gets no live key', async () => {
	const seen = await visit('/signup', service.base, { locale: 'hi-IN' });
	await seen.page.getByRole('heading', { name: 'खाता बनाएँ' }).waitFor();
	const id = await invited(seen, 'खाता बनाएँ');
	await seen.page.getByText('asha@example.com पर एक लिंक').waitFor();
	const confirm = await visit(await linkOf(id), service.base, { locale: 'hi-IN' });
	await confirm.page.getByRole('button', { name: 'पते की पुष्टि करें' }).click();
	await confirm.page.getByText('इस पते का खाता पहले से है').waitFor();
	await confirm.page.getByText('लिंक से साइन इन करके नई कुंजी').waitFor();
	await confirm.page.getByRole('link', { name: 'साइन इन पेज पर जाएँ' }).waitFor();
	await pictured(confirm.page, 'signup-known');
	const forged = await visit('/signup/confirm#acc_01KAHQX0ZP4T9N6J8S3V5W7Y2B.x', service.base, { locale: 'hi-IN' });
	await forged.page.getByRole('button', { name: 'पते की पुष्टि करें' }).click();
	await forged.page.getByText('लिंक मान्य नहीं है').waitFor();
	await forged.page.getByText('नए निमंत्रण कोड से फिर साइन अप करें').waitFor();
	await pictured(forged.page, 'signup-forged');
	expect([...seen.faults, ...confirm.faults, ...forged.faults]).toEqual([]);
});

test('a limited sign-up says when to try again', async () => {
	const { page, faults } = await visit('/signup', service.base);
	await page.route('**/v1/signup', (route) =>
		route.request().method() === 'POST'
			? route.fulfill({ status: 429, headers: { 'Retry-After': '1200' }, json: { error: { code: 'rate_limited', message: '' } } })
			: route.continue(),
	);
	await page.getByLabel('E-mail address').fill('asha@example.com');
	await page.getByLabel('Invite code').fill('inv_unknown');
	await page.getByRole('button', { name: account }).click();
	await page.getByText('Try again in 20 minutes').waitFor();
	await pictured(page, 'signup-limited');
	expect(faults).toEqual([]);
});

test('without the setting there is no link to the page, and the page says so', async () => {
	const { page } = await visit();
	await page.getByLabel('API key').waitFor();
	expect(await page.getByRole('link', { name: account }).count()).toBe(0);
	await page.goto('/dashboard/signup');
	await page.getByText('Sign-up is off').waitFor();
});
