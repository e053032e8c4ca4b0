import type { Page } from 'playwright-core';
import { expect, inject, test } from 'vitest';
import { ask, cut, pictured, signedIn } from './browser';
import { Receiver } from './receiver';
import { account } from './service';
import { givenUp, grown } from './store';

const patient = { timeout: 240_000 };

interface Delivery {
	id: string;
	state: string;
	attempts_made: number;
	retry_of: string | null;
	retried_as: string | null;
}

async function delivery(id: string, key: string): Promise<Delivery> {
	return (await ask<{ data: Delivery }>(`/v1/deliveries/${id}`, undefined, key)).data;
}

async function subscribe(receiver: Receiver, key: string, path = ''): Promise<string> {
	const body = { url: receiver.url + path, events: ['recharge.completed'] };
	return (await ask<{ id: string }>('/v1/webhooks', body, key)).id;
}

/** fire sends test events to a webhook. It returns the ids of their deliveries after each was attempted once. */
async function fire(webhook: string, count: number, key: string): Promise<string[]> {
	const ids: string[] = [];
	for (let i = 0; i < count; i++) {
		ids.push((await ask<{ delivery_id: string }>(`/v1/webhooks/${webhook}/test`, {}, key)).delivery_id);
	}
	const attempted = async () => (await Promise.all(ids.map((id) => delivery(id, key)))).every((one) => one.attempts_made > 0);
	await expect.poll(attempted, patient).toBe(true);
	return ids;
}

/** failures returns the number of failed deliveries of the API that were not sent again. */
async function failures(key: string, filter: string): Promise<number> {
	return (await ask<{ data: Delivery[] }>(`/v1/deliveries?state=failed&retried=false&limit=1000${filter}`, undefined, key)).data.length;
}

/** counted waits until the tab of failed deliveries shows a number that equals the API's with the same filter. */
async function counted(page: Page, want: number, key: string, filter = ''): Promise<void> {
	await page.getByRole('button', { name: `Failed, not sent again (${want})`, exact: true }).waitFor(patient);
	expect(await failures(key, filter)).toBe(want);
}

test('failed deliveries are found and sent again: one, a selection, all of a webhook, all of a range of days', async () => {
	const key = await account(inject('data'), 'deliveries-failed');
	const receiver = await Receiver.start();
	receiver.status = 500;
	const [first, other] = [await subscribe(receiver, key), await subscribe(receiver, key, '/other')];
	const ids = [...(await fire(first, 5, key)), ...(await fire(other, 3, key))];
	expect(await givenUp(ids)).toBe(8);
	receiver.status = 200;
	receiver.got.splice(0);

	const { page, faults } = await signedIn('/deliveries', key);
	await counted(page, 8, key);
	await page.getByRole('button', { name: /Failed, not sent again/ }).click();
	await page.waitForURL(/state=failed/);
	await page.getByText('8 deliveries', { exact: true }).waitFor();
	expect(await page.getByText('in use').count()).toBe(0); // the tab is no filter
	expect(await cut(page.locator('.wh-deliveries'))).toBe(0);
	await pictured(page, 'deliveries-failed');

	const rows = page.locator('.wh-deliveries tbody tr[data-index]');
	await rows.first().getByRole('link').click();
	await page.getByText('8 of 8', { exact: true }).waitFor();
	await page.getByText('Given up after 8 attempts in 31 hours.').waitFor();
	await page.getByText('The last answer was 500 Internal Server Error.').waitFor();
	const attempts = page.getByRole('list').getByText(/^Attempt \d$/);
	expect(await attempts.filter({ visible: true }).allTextContents()).toEqual(['Attempt 8']);
	await pictured(page, 'delivery-failed');
	await page.getByText('7 more attempts with the same result').click();
	await expect
		.poll(() => attempts.filter({ visible: true }).allTextContents())
		.toEqual([8, 7, 6, 5, 4, 3, 2, 1].map((n) => `Attempt ${n}`));
	const old = new URL(page.url()).pathname.split('/').at(-1) ?? '';
	await page.getByRole('button', { name: 'Deliver again' }).click();
	const again = page.getByText('Delivered again as').getByRole('link');
	await again.waitFor();
	const next = (await again.textContent()) ?? '';
	expect(await delivery(old, key)).toMatchObject({ state: 'failed', retried_as: next });
	expect(await page.getByRole('button', { name: 'Deliver again' }).count()).toBe(0);
	await again.click();
	await page.locator('.badge').getByText('Delivered', { exact: true }).waitFor(patient);
	expect(await delivery(next, key)).toMatchObject({ state: 'delivered', retry_of: old });
	expect(receiver.got.map((got) => got.headers['x-service-delivery-id'])).toEqual([next]);
	await page.getByText('A repeat of').getByRole('link', { name: old }).click();
	await page.getByText('Delivered again as').waitFor();

	await page.getByRole('link', { name: 'All deliveries' }).click();
	await counted(page, 7, key);
	await page.getByRole('button', { name: /Failed, not sent again/ }).click();
	await page.getByText('7 deliveries', { exact: true }).waitFor();
	for (const at of [0, 1]) {
		await rows.nth(at).getByRole('checkbox').check();
	}
	await page.getByRole('button', { name: 'Deliver selected again (2)' }).click();
	await page.getByText('2 of 2 sent again').waitFor();
	await counted(page, 5, key);
	await page.getByText('5 deliveries', { exact: true }).waitFor(patient);

	await page.getByLabel('Webhook', { exact: true }).selectOption(first);
	await page.waitForURL(new RegExp(`webhook=${first}`));
	const dialog = page.getByRole('dialog');
	const retryAll = page.getByRole('button', { name: 'Deliver failed ones again' });
	await retryAll.click();
	await dialog.getByText('5 failed deliveries will be sent again.').waitFor();
	await dialog.getByLabel('Webhook').selectOption(other);
	await dialog.getByText('0 failed deliveries will be sent again.').waitFor();
	expect(await dialog.getByRole('button', { name: 'Deliver again' }).isDisabled()).toBe(true);
	await dialog.getByRole('button', { name: 'Cancel' }).click();
	await counted(page, 5, key, `&webhook_id=${first}`);

	receiver.status = 500;
	expect(await givenUp(await fire(other, 2, key))).toBe(2);
	receiver.status = 200;
	await retryAll.click();
	await dialog.getByText('5 failed deliveries will be sent again.').waitFor();
	await pictured(page, 'deliveries-retry');
	await dialog.getByRole('button', { name: 'Deliver again' }).click();
	await dialog.getByText('5 sent again.', { exact: true }).waitFor(patient);
	await dialog.getByRole('button', { name: 'Close' }).click();
	await counted(page, 0, key, `&webhook_id=${first}`);
	expect(await retryAll.isDisabled()).toBe(true);

	await page.getByRole('button', { name: 'Reset' }).click();
	await counted(page, 2, key);
	const india = (days: number) => new Intl.DateTimeFormat('en-CA', { timeZone: 'Asia/Kolkata' }).format(Date.now() + days * 86_400_000);
	await page.getByLabel('To (day in India)').fill(india(-2));
	await page.getByText('No matching deliveries').waitFor();
	await page.getByRole('button', { name: 'Failed, not sent again (0)', exact: true }).waitFor();
	expect(await retryAll.isDisabled()).toBe(true);
	await page.getByLabel('To (day in India)').fill(india(1));
	await page.getByLabel('From (day in India)').fill(india(-1));
	await retryAll.click();
	await dialog.getByText(`Created from ${india(-1)} to ${india(1)}`).waitFor();
	await dialog.getByText('2 failed deliveries will be sent again.').waitFor();
	await dialog.getByRole('button', { name: 'Deliver again' }).click();
	await dialog.getByText('2 sent again.', { exact: true }).waitFor(patient);
	await dialog.getByRole('button', { name: 'Close' }).click();
	await counted(page, 0, key);
	await page.getByRole('button', { name: /^All \(/ }).click();
	await page.reload();
	await rows.first().waitFor();
	expect(await page.getByLabel('From (day in India)').inputValue()).toBe(india(-1));
	const unfinished = async () => (await ask<{ data: Delivery[] }>('/v1/deliveries?state=waiting', undefined, key)).data.length;
	await expect.poll(unfinished, patient).toBe(0);
	const tried = new Set(receiver.got.map((got) => got.headers['x-service-event-id']));
	expect(tried.size).toBe(10);
	expect(faults).toEqual([]);
});

test('ten thousand deliveries: few rows are drawn at any time, by mouse and by keyboard', async () => {
	const key = await account(inject('data'), 'deliveries-many');
	const receiver = await Receiver.start();
	const webhook = await subscribe(receiver, key);
	await fire(webhook, 1, key);
	await grown(webhook, 9_999);
	const { page, faults } = await signedIn('/webhooks', key);
	await page.addInitScript(() => {
		const tasks: number[] = [];
		Object.assign(window, { tasks });
		new PerformanceObserver((list) => tasks.push(...list.getEntries().map((entry) => Math.round(entry.duration)))).observe({
			type: 'longtask',
			buffered: true,
		});
	});
	await page.goto('/dashboard/deliveries');
	const notice = page.locator('.wh-deliveries ~ p.hint[role=status]');
	const rows = page.locator('.wh-deliveries tbody tr[data-index]');
	await notice.waitFor();
	await page.getByRole('button', { name: /^All \(\d00\+\)$/ }).waitFor(patient);
	for (const name of ['All', 'Waiting', 'Delivered', 'Failed, not sent again', 'Failed, sent again', 'Cancelled']) {
		await page.getByRole('button', { name: new RegExp(`^${name} \\([\\d,]+\\+?\\)$`) }).waitFor();
	}
	await pictured(page, 'deliveries'); // take the screenshot now: one of ten thousand rows is too tall
	let most = 0;
	const shown = async () => {
		most = Math.max(most, await rows.count());
		return Number(/[\d,]+/.exec((await notice.textContent()) ?? '')?.[0].replaceAll(',', ''));
	};
	// The page can grow while it scrolls to its end, so each step is repeated until it succeeds.
	const grows = async (scroll: () => Promise<void>, to: number) => {
		for (let at = await shown(); at < to; at = await shown()) {
			const more = async () => {
				await scroll();
				return shown();
			};
			await expect.poll(more, patient).toBeGreaterThan(at);
		}
	};
	await rows.first().hover();
	await grows(() => page.mouse.wheel(0, 20_000), 2_000);
	await grows(() => page.keyboard.press('End'), 10_000);
	await page.getByText('10,000 deliveries', { exact: true }).waitFor();
	// The height of rows that were never drawn is an estimate, so the end can move during the scroll.
	const reaches = async (key: string, row: number) => {
		const there = async () => {
			await page.keyboard.press(key);
			return page.locator(`tr[data-index="${row}"]`).count();
		};
		await expect.poll(there, patient).toBe(1);
	};
	await reaches('End', 9_999);
	await shown();
	expect(most).toBeLessThan(60);
	const { data } = await ask<{ data: Delivery[] }>('/v1/deliveries?limit=1', undefined, key);
	await reaches('Home', 0);
	await page.locator('tr[data-index="0"]').getByRole('link').focus();
	expect(await page.locator('tr[data-index="0"]').getByRole('link').getAttribute('href')).toContain(data[0]?.id);
	// Rows are drawn ahead of the focus, so tabbing from link to link never loses it.
	const focused = () => page.evaluate(() => Number(document.activeElement?.closest('tr')?.dataset.index ?? -1));
	const from = await focused();
	for (let i = 0; i < 40; i++) {
		await page.keyboard.press('Tab');
	}
	await expect.poll(focused, patient).toBeGreaterThan(from + 15);
	await shown();
	expect(most).toBeLessThan(60);
	const tasks = await page.evaluate(() => (window as unknown as { tasks: number[] }).tasks);
	console.info(`longest task with 10,000 deliveries: ${Math.max(0, ...tasks)} ms, of ${tasks.length} over 50 ms`);
	expect(await page.title()).not.toBe('taken');
	expect(await page.locator('img[src="x"]').count()).toBe(0);
	expect(faults).toEqual([]);
});

test('events are listed, and one shows its bytes and its deliveries', async () => {
	const key = await account(inject('data'), 'deliveries-events');
	const receiver = await Receiver.start();
	const webhook = await subscribe(receiver, key);
	await fire(webhook, 1, key);
	await ask('/v1/wallet/topups', { amount: 100, ref_id: 'events-topup' }, key);
	const { page, faults } = await signedIn('/deliveries', key);
	const type = page.getByLabel('Event', { exact: true }).and(page.locator('select'));
	await type.selectOption('payment.failed');
	await page.getByText('No matching deliveries').waitFor();
	await type.selectOption('recharge.completed');
	await page.getByRole('link', { name: 'recharge.completed' }).waitFor();
	await page.goto('/dashboard/events');
	await page.getByRole('link', { name: 'recharge.completed' }).waitFor();
	// The newest event comes first.
	await expect
		.poll(() => page.locator('tbody tr td:first-child').allTextContents(), patient)
		.toEqual(['payment.succeeded', 'recharge.completed']);
	await pictured(page, 'events');
	await page.getByRole('link', { name: 'recharge.completed' }).click();
	await page.getByRole('cell', { name: 'Delivered', exact: true }).waitFor(patient);
	await page.getByRole('button', { name: 'As sent', exact: true }).click();
	await expect.poll(() => page.locator('.wh-payload pre').textContent(), patient).toBe(receiver.got[0]?.body);
	await pictured(page, 'event');
	expect(faults).toEqual([]);
});

test('deliveries are filtered by the answer of the endpoint', async () => {
	const key = await account(inject('data'), 'deliveries-answers');
	const receiver = await Receiver.start();
	const webhook = await subscribe(receiver, key);
	const [good] = await fire(webhook, 1, key);
	receiver.status = 503;
	const [bad] = await fire(webhook, 1, key);
	await receiver.shut();
	const [lost] = await fire(webhook, 1, key);
	const { page, faults } = await signedIn('/deliveries', key);
	const rows = page.locator('.wh-deliveries tbody tr[data-index]');
	const shows = async (choice: string, want: (string | undefined)[]) => {
		await page.getByLabel('Response', { exact: true }).selectOption(choice);
		const ids = async () =>
			rows.getByRole('link').evaluateAll((links) => links.map((link) => link.getAttribute('href')?.split('/').at(-1)));
		await expect.poll(ids, patient).toEqual(want);
	};
	await shows('2xx', [good]);
	await shows('5xx', [bad]);
	await shows('4xx', []);
	await shows('None', [lost]);
	await page.reload();
	await expect.poll(() => rows.count(), patient).toBe(1);
	await pictured(page, 'deliveries-no-answer');
	await page.getByRole('button', { name: 'Reset' }).click();
	await expect.poll(() => rows.count(), patient).toBe(3);
	expect(faults).toEqual([]);
});

test('a delivery shows the headers of its attempts, and two attempts are compared', async () => {
	const key = await account(inject('data'), 'deliveries-headers');
	const receiver = await Receiver.start();
	receiver.status = 500;
	receiver.says = '{"error":"busy","id":7}';
	const [id = ''] = await fire(await subscribe(receiver, key), 1, key);
	receiver.status = 503;
	receiver.says = '{"error":"down","id":7}';
	await expect.poll(async () => (await delivery(id, key)).attempts_made, patient).toBe(2);
	const { page, faults } = await signedIn(`/deliveries/${id}`, key);
	const first = page.getByRole('listitem').filter({ has: page.getByText('Attempt 1', { exact: true }) });
	await first.getByText('Request headers').click();
	await first.getByText(String(receiver.got[0]?.headers['x-service-signature'])).waitFor();
	await first.getByText('Response headers').click();
	await first.getByText('[masked]').waitFor();
	expect(await page.content()).not.toContain('NeverShown');
	const compared = page.getByRole('region', { name: 'Compare two attempts' });
	await compared.getByRole('row', { name: 'Result HTTP 500 HTTP 503' }).waitFor();
	expect(await compared.getByText(/X-SERVICE-(Attempt|Signature)/i).count()).toBe(0);
	expect(await compared.getByText('Set-Cookie').count()).toBe(0);
	expect(await page.locator('.wh-lines .removed').textContent()).toContain('"busy"');
	expect(await page.locator('.wh-lines .added').textContent()).toContain('"down"');
	await pictured(page, 'delivery-headers');
	// Two attempts leave nothing to choose.
	expect(await page.getByLabel('Compared with').count()).toBe(0);
	await page.getByLabel('Language').selectOption('hi');
	await page.getByRole('heading', { name: 'दो प्रयासों की तुलना' }).waitFor();
	await pictured(page, 'delivery-headers-hindi');
	expect(faults).toEqual([]);
});
