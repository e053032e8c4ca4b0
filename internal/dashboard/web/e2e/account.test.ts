import { readFile } from 'node:fs/promises';
import { expect, inject, test } from 'vitest';
import { ask, cut, phone, pictured, signedIn } from './browser';
import { command } from './service';

/** manager creates a sandbox key that can create other keys. */
async function manager(): Promise<string> {
	const made = await command(
		inject('data'),
		...['key', 'create', '--account', 'default', '--mode', 'sandbox', '--name', 'manager', '--scopes', 'aqi:read,account:read,keys:manage'],
	);
	return /sk_test_\w{39}/.exec(made)?.[0] ?? '';
}

test('a key is created, shown once, rotated and revoked', async () => {
	const { page, faults } = await signedIn('/keys', await manager());
	await page.getByRole('button', { name: 'Create key' }).click();
	const dialog = page.getByRole('dialog');
	await dialog.getByLabel('Name').fill('for the phone');
	await dialog.getByLabel('Role').selectOption({ label: 'Reads air quality' });
	expect(await dialog.getByRole('checkbox', { name: 'aqi:read' }).isChecked()).toBe(true);
	expect(await dialog.getByRole('checkbox', { name: 'account:read' }).isChecked()).toBe(false);
	await dialog.getByRole('checkbox', { name: 'account:read' }).check();
	expect(await dialog.getByLabel('Role').inputValue()).toBe('');
	await dialog.getByRole('checkbox', { name: 'account:read' }).uncheck();
	await dialog.getByLabel('Allowed IP addresses').fill('nonsense');
	await dialog.getByRole('button', { name: 'Create key' }).click();
	await dialog.getByText('An entry must be an IP address').waitFor();
	await dialog.getByLabel('Allowed IP addresses').fill('');
	await dialog.getByRole('button', { name: 'Create key' }).click();
	await dialog.getByText('It is shown only once').waitFor();
	const key = (await dialog.locator('code').first().textContent()) ?? '';
	expect((await ask<{ status: string }>('/v1/aqi?city=Delhi', undefined, key)).status).toBe('success');
	// The key cannot be shown again, so Escape does not close its dialog.
	for (let i = 0; i < 3; i++) {
		await page.keyboard.press('Escape');
		await dialog.getByText('Copy the key first.').waitFor();
	}
	await pictured(page, 'keys-made');
	await dialog.getByRole('button', { name: 'Close' }).click();

	const row = page.getByRole('row', { name: 'for the phone' }).first();
	await row.getByText('Reads air quality', { exact: true }).click();
	await row.getByText('aqi:read').waitFor();
	await page.getByRole('row', { name: 'manager' }).getByText('Your key').waitFor();
	expect(await cut(page.getByRole('region', { name: 'API keys' }))).toBe(0);
	const widths = await page
		.getByRole('region', { name: 'API keys' })
		.getByRole('button')
		.evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().width)));
	expect(new Set(widths).size).toBe(1);
	await pictured(page, 'keys-roles');
	await row.getByRole('button', { name: 'Rotate' }).click();
	await pictured(page, 'keys-rotate');
	await dialog.getByLabel('Old key expires').selectOption('0');
	await dialog.getByRole('button', { name: 'Rotate' }).click();
	await dialog.getByText('It is shown only once').waitFor();
	const next = (await dialog.locator('code').first().textContent()) ?? '';
	expect(next).not.toBe(key);
	await dialog.getByRole('button', { name: 'Close' }).click();

	const current = page.getByRole('row', { name: 'for the phone' }).filter({ hasText: 'Active' }).first();
	await current.getByRole('button', { name: 'Revoke' }).click();
	await pictured(page, 'keys-revoke');
	await dialog.getByRole('button', { name: 'Revoke' }).click();
	await expect.poll(() => page.getByRole('row', { name: 'for the phone' }).filter({ hasText: 'Active' }).count()).toBe(0);
	expect(faults).toEqual([]);
});

test('the usage page shows the figures of the API, and opening it uses no quota', async () => {
	for (let i = 0; i < 3; i++) {
		await ask('/v1/aqi?city=Pune', undefined, inject('live'));
	}
	const { page, faults } = await signedIn('/usage', inject('live'));
	await page
		.getByRole('heading', { name: 'By operation', includeHidden: true })
		.or(page.getByRole('cell', { name: 'GET /v1/aqi' }))
		.first()
		.waitFor();
	type Usage = { quota: { used: number }; days: { operation: string; calls: number }[] };
	const before = await ask<Usage>('/v1/usage', undefined, inject('live'));
	await page.reload();
	const want = before.days.filter((day) => day.operation === 'GET /v1/aqi').reduce((sum, day) => sum + day.calls, 0);
	const row = page.getByRole('region', { name: 'By operation' }).getByRole('row', { name: 'GET /v1/aqi' });
	expect(await row.getByRole('cell').nth(1).textContent()).toBe(String(want));
	const after = await ask<Usage>('/v1/usage', undefined, inject('live'));
	expect(after.quota.used).toBe(before.quota.used + 1); // the request for the usage itself
	await page.getByText('Nor do these in the dashboard: live updates, switches of the mode').waitFor();
	const live = page.getByRole('region', { name: 'By operation' }).getByRole('row', { name: 'GET /v1/live' });
	expect(await live.getByRole('cell').nth(3).textContent()).toBe('0');
	await pictured(page, 'usage');
	expect(faults).toEqual([]);
});

test('the audit log is filtered by its address, and the export applies the filter', async () => {
	const { page, faults } = await signedIn('/audit?action=session.');
	await page.getByRole('cell', { name: 'Signed in to the dashboard session.create' }).first().waitFor();
	expect(await page.getByRole('cell', { name: 'key.create' }).count()).toBe(0);
	const saving = page.waitForEvent('download');
	await page.getByRole('button', { name: 'Save as audit.csv' }).click();
	const text = await readFile(await (await saving).path(), 'utf8');
	expect(text.split('\n')[0]).toContain('seq,');
	expect(text).toContain('session.create');
	expect(text).not.toContain('key.create');
	await page.getByRole('button', { name: 'Reset' }).click();
	await page.getByRole('cell', { name: 'key.create' }).first().waitFor();
	await page.getByLabel('Actor').selectOption({ label: 'Command line' });
	await page.getByLabel('Action').selectOption({ label: 'API keys' });
	expect(new URL(page.url()).search).toBe('?actor=command&action=key.');
	await page.getByRole('cell', { name: 'Command line' }).first().waitFor();
	expect(await page.getByRole('cell', { name: 'session.create' }).count()).toBe(0);
	await page.getByRole('button', { name: 'Reset' }).click();
	await page.getByRole('cell', { name: 'session.create' }).first().waitFor();
	await pictured(page, 'audit');
	expect(faults).toEqual([]);
});

test('on a phone each audit row names its actor and its subject, and the subject begins a line', async () => {
	const { page } = await signedIn('/audit', inject('sandbox'), inject('base'), phone);
	const rows = page.getByRole('region', { name: 'Audit log' }).locator('tbody tr');
	const places = () =>
		rows.evaluateAll((all) =>
			all.map((row) => {
				const place = (label: string) => {
					const cell = row.querySelector<HTMLElement>(`td[data-label="${label}"]`);
					const box = cell?.getBoundingClientRect();
					const before = cell && getComputedStyle(cell, '::before');
					return { left: box?.left ?? 0, top: box?.top ?? 0, named: before?.position === 'static' && before.content.includes(label) };
				};
				const [action, actor, subject] = [place('Action'), place('Actor'), place('Subject')];
				return actor.named && subject.named && subject.left === action.left && subject.top > actor.top;
			}),
		);
	await expect.poll(async () => [...new Set(await places())]).toEqual([true]);
});

test('the signed-in sessions are listed', async () => {
	const { page } = await signedIn('/sessions');
	await page.getByText('this browser').waitFor();
	await page.getByText('Chrome on Linux').first().waitFor();
	await pictured(page, 'sessions');
});

test('the detail of an audit row opens in a dialog, and the table keeps its widths', async () => {
	const { page } = await signedIn('/audit');
	const table = page.getByRole('region', { name: 'Audit log' });
	await table
		.getByRole('cell', { name: /…\w{4}$/ })
		.first()
		.waitFor(); // the names of keys are there
	const widths = () => table.locator('th').evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().width)));
	const before = await widths();
	expect(await cut(table)).toBe(0);
	await table.getByRole('button', { name: 'Show' }).first().click();
	const dialog = page.getByRole('dialog');
	await dialog.getByText('request_id').waitFor();
	expect((await dialog.locator('pre').boundingBox())?.width).toBeGreaterThan(400);
	expect(await widths()).toEqual(before);
	await pictured(page, 'audit-detail');
});

test('the usage page shows which key made which calls, in both languages', async () => {
	const made = async (name: string) =>
		/sk_live_\w{39}/.exec(
			await command(inject('data'), ...['key', 'create', '--account', 'default', '--mode', 'live', '--name', name]),
		)?.[0];
	const [till, site] = [await made('usage till'), await made('usage site')];
	for (const [key, path, times] of [
		[till, '/v1/operators', 3],
		[site, '/v1/operators', 2],
		[site, '/v1/cities', 1],
	] as const) {
		for (let i = 0; i < times; i++) {
			await ask(path, undefined, key);
		}
	}
	const { page, faults } = await signedIn('/usage', inject('live'));
	const byKey = page.getByRole('region', { name: 'By key or person' });
	await byKey.getByRole('row', { name: 'usage till' }).waitFor();
	const cells = (region: typeof byKey, row: string) => region.getByRole('row', { name: row }).getByRole('cell').allTextContents();
	expect((await cells(byKey, 'usage till'))[1]).toBe('3');
	expect((await cells(byKey, 'usage site'))[1]).toBe('3');
	await byKey.getByRole('button', { name: 'usage site' }).click();
	const operations = page.getByRole('region', { name: 'By operation' });
	await operations.getByRole('row', { name: 'GET /v1/cities' }).waitFor();
	await expect.poll(async () => (await cells(operations, 'GET /v1/operators'))[1]).toBe('2');
	expect(await operations.getByRole('row').count()).toBe(4); // with the header and the total
	expect(new URL(page.url()).searchParams.get('key')).toMatch(/^key_/);
	expect(await page.getByLabel('Key or person', { exact: true }).locator('option:checked').textContent()).toMatch(/^usage site …/);
	await pictured(page, 'usage-by-key');
	await page.getByLabel('Key or person', { exact: true }).selectOption('');
	await byKey.getByRole('row', { name: 'usage till' }).waitFor();
	await page.getByRole('navigation', { name: 'Main' }).getByLabel('Language').selectOption('hi');
	const hindi = page.getByRole('region', { name: 'कुंजी या व्यक्ति के अनुसार' });
	await hindi.getByRole('button', { name: 'usage till' }).click();
	await expect.poll(async () => await page.getByRole('region', { name: 'काम के अनुसार' }).getByRole('row').count()).toBe(2);
	await pictured(page, 'usage-by-key-hindi');
	expect(faults).toEqual([]);
});
