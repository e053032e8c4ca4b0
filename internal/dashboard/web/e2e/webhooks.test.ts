import type { Page } from 'playwright-core';
import { expect, inject, test } from 'vitest';
import { ask, pictured, signedIn } from './browser';
import { Receiver, signs } from './receiver';
import { account } from './service';

const hostile = '<img src=x onerror="document.title=\'taken\'"><script>document.title="taken"</script>';
const patient = { timeout: 240_000 };

interface Attempt {
	attempt: number;
	at: string;
	duration_ms: number;
	stage: string;
	http_status: number | null;
	error: string;
	response_body: string;
}

interface Delivery {
	id: string;
	state: string;
	url: string;
	attempts_made: number;
	next_attempt_at: string | null;
	attempts: Attempt[];
}

/** duration returns how the page shows milliseconds. */
function duration(ms: number): string {
	return ms >= 999.5 ? `${(ms / 1000).toFixed(1)} s` : `${ms < 1 ? '< 1' : Math.round(ms)} ms`;
}

const stages: Record<string, string> = {
	connect: 'connecting',
	wait: 'waiting for the response',
};

async function delivery(id: string, key: string): Promise<Delivery> {
	return (await ask<{ data: Delivery }>(`/v1/deliveries/${id}`, undefined, key)).data;
}

/** made creates a webhook with two event types in a new account, and opens its page. */
async function made(name: string) {
	const key = await account(inject('data'), name);
	const receiver = await Receiver.start();
	const body = { url: receiver.url, events: ['recharge.completed', 'payment.failed'] };
	const webhook = await ask<{ id: string; secret: string }>('/v1/webhooks', body, key);
	const seen = await signedIn(`/webhooks/${webhook.id}`, key);
	await seen.page.getByRole('button', { name: 'Send test event' }).waitFor();
	return { ...seen, key, receiver, webhook };
}

/** fired sends a test event, waits until its delivery shows a state, and returns the id of the delivery. */
async function fired(page: Page, state: string, before?: string): Promise<string> {
	await page.getByRole('button', { name: 'Send test event' }).click();
	const link = page.locator('.wh-followed').getByRole('link', { name: 'Open the delivery' });
	const id = async () => ((await link.count()) > 0 ? ((await link.getAttribute('href')) ?? '').split('/').at(-1) : before);
	await expect.poll(id, patient).not.toBe(before);
	await page.locator('.wh-followed').getByText(state, { exact: true }).waitFor(patient);
	return (await id()) ?? '';
}

test('invalid webhooks are rejected at their fields; a secret is shown once and signs', async () => {
	const key = await account(inject('data'), 'webhook-made');
	const receiver = await Receiver.start();
	const { page, faults } = await signedIn('/webhooks', key);
	await page.getByText('No webhooks yet').waitFor();
	await pictured(page, 'webhooks-none');
	await page.getByRole('link', { name: 'Add webhook' }).first().click();
	const url = page.getByLabel('URL', { exact: true });
	const save = page.getByRole('button', { name: 'Save webhook' });
	const problem = async () => {
		const ids = ((await url.getAttribute('aria-describedby')) ?? '').split(' ');
		return page.locator(`[id="${ids.at(-1)}"]`).textContent();
	};
	await page.getByLabel(/recharge\.completed/).check();
	for (const wrong of ['http://127.0.0.1/hook', 'nonsense', '']) {
		await url.fill(wrong);
		await save.click();
		await page.locator('input[aria-invalid=true]').waitFor();
		const body = { url: wrong, events: ['recharge.completed'] };
		const { error } = await ask<{ error: { message: string } }>('/v1/webhooks', body, key);
		await expect.poll(problem, patient).toBe(error.message);
	}
	await url.fill(receiver.url);
	await page.getByRole('button', { name: 'None', exact: true }).click();
	await page.getByText('0 of 16 selected').waitFor();
	await save.click();
	await page.getByRole('group', { name: 'Events' }).getByRole('alert').filter({ hasText: /\w/ }).waitFor();
	await pictured(page, 'webhook-new');
	await page.getByLabel(/payment\.failed/).check();
	await save.click();
	await page.getByText('This secret is shown only once').waitFor();
	const secret = (await page.locator('.wh-secret code').textContent()) ?? '';
	expect(secret).toMatch(/^whsec_/);
	const id = await fired(page, 'Delivered');
	await pictured(page, 'webhook-made');
	expect(receiver.got.map((got) => signs(secret, got))).toEqual([{ signed: true, of: 1 }]);
	expect(receiver.got[0]?.headers['x-service-delivery-id']).toBe(id);

	await page.getByRole('link', { name: 'Open webhook' }).click();
	await page.getByRole('heading', { name: receiver.url, level: 1 }).waitFor();
	await page.getByText(`…${secret.slice(-4)}`).waitFor();
	await page.getByRole('cell', { name: 'Delivered', exact: true }).waitFor();
	expect(await page.content()).not.toContain(secret);
	await page.goBack();
	await save.waitFor();
	expect(await page.content()).not.toContain(secret);
	expect(faults).toEqual([]);
});

/** shown returns what a delivery's page shows of its first attempt and of the next one. */
async function shown(page: Page) {
	const first = page.getByRole('listitem').filter({ has: page.getByText('Attempt 1', { exact: true }) });
	return {
		paragraphs: await first.locator('p').allTextContents(),
		at: await first.locator('time').first().getAttribute('datetime'),
		body: await first.locator('pre').allTextContents(),
		next: await page.locator('.wh-attempts > li.coming time').getAttribute('datetime'),
	};
}

const breaks = [
	{ name: 'answers 500', status: 500, says: hostile, stage: 'status' },
	{ name: 'answers 301', status: 301, says: '', stage: 'status' },
	{ name: 'is slow', mute: true, stage: 'wait' },
	{ name: 'is away', shut: true, stage: 'connect' },
];

// On a busy machine the third attempt can precede the recovery. The fourth follows two minutes later.
const scheduled = { timeout: 200_000 };

test('a failing receiver: how far each attempt got, the reply, and when the next one is due', { timeout: 600_000 }, async () => {
	const { page, faults, key, receiver, webhook } = await made('webhook-broken');
	let last: string | undefined;
	for (const broken of breaks) {
		receiver.status = broken.status ?? 200;
		receiver.says = broken.says ?? '';
		receiver.mute = broken.mute ?? false;
		if (broken.shut) {
			await receiver.shut();
		}
		last = await fired(page, 'Attempt 1 of 8', last);
		await page.locator('.wh-followed').getByText('Retrying', { exact: true }).waitFor();
		await page.getByRole('link', { name: 'Open the delivery' }).click();
		await page.getByText('Attempt 1', { exact: true }).waitFor();
		const id = last;
		const want = async () => {
			const { attempts, next_attempt_at } = await delivery(id, key);
			const first = attempts[0];
			expect(first, broken.name).toMatchObject({ stage: broken.stage, http_status: broken.status ?? null });
			// The error names the status of the response.
			const facts = [
				first?.error,
				...(first?.http_status ? [] : [`Last stage: ${stages[first?.stage ?? '']}`]),
				duration(first?.duration_ms ?? -1),
			].join('');
			return { facts, at: first?.at, body: first?.response_body ? [first.response_body] : [], next: next_attempt_at };
		};
		const is = async () => {
			const { paragraphs, at, body, next } = await shown(page);
			return { facts: paragraphs[1], at, body, next };
		};
		// The second attempt can happen between the two reads.
		await expect.poll(async () => JSON.stringify(await is()) === JSON.stringify(await want()), patient).toBe(true);
		if (broken.says) {
			await page.getByText('Response body').first().click();
			await page.locator('.wh-attempts pre').first().getByText(hostile, { exact: true }).waitFor();
			await pictured(page, 'delivery-waiting');
		}
		await page.getByRole('link', { name: receiver.url }).click();
		await page.getByRole('button', { name: 'Send test event' }).waitFor();
	}
	expect(await page.title()).not.toBe('taken');
	expect(await page.locator('img[src="x"]').count()).toBe(0);
	await healthy(page, webhook.id, key, /^(degraded|failing)$/);
	// The page refetches only what is in view. The rows and the health are of one time, when both have the results of all
	// attempts.
	await page.setViewportSize({ width: 1280, height: 1600 });
	const attempts = async () => Number(/(?:All|of) (\d+) attempts/.exec((await page.locator('.wh-health').textContent()) ?? '')?.[1]);
	const inRows = async () =>
		(
			await page
				.locator('.wh-deliveries')
				.getByText(/^\d of 8$/)
				.allTextContents()
		).reduce((sum, text) => sum + Number(text[0]), 0);
	await expect.poll(async () => (await inRows()) - (await attempts()), patient).toBe(0);
	// Later replies are held back, so that both pictures show one moment.
	await page.route(/\/v1\/(deliveries|webhooks\/\w+\/health)/, () => undefined);
	await pictured(page, 'webhook-broken');
	await page.unrouteAll({ behavior: 'ignoreErrors' });

	// After the recovery the next attempts succeed, and the page updates itself.
	receiver.mute = false;
	receiver.status = 200;
	await receiver.listen();
	await page.goto(`/dashboard/deliveries/${last}`);
	await page.getByText('Delivered', { exact: true }).waitFor(scheduled);
	await page.locator('.wh-attempts > li.good').waitFor();
	await page.getByRole('link', { name: receiver.url }).click();
	await expect.poll(() => page.locator('.wh-deliveries').getByText('Delivered', { exact: true }).count(), scheduled).toBe(4);
	await healthy(page, webhook.id, key, /^degraded$/);
	expect(faults).toEqual([]);
});

/** cause returns the part of an error that the box of a failing webhook shows. */
const cause = (error: string) => error.replace(/^the receiver answered ([^;]*).*/, 'The last answer was $1.');

/** healthy compares a webhook's health on its page with the API's. */
async function healthy(page: Page, id: string, key: string, word: RegExp): Promise<void> {
	type Health = {
		health: string;
		states: { waiting: number; failed_unretried: number };
		attempts: { count: number; successes: number; median_ms: number; p95_ms: number };
		last_failure: { error: string; delivery_id: string } | null;
	};
	const line = page.locator('.wh-health');
	let seen = '';
	const missing = async () => {
		const { health, states, attempts, last_failure: failure } = await ask<Health>(`/v1/webhooks/${id}/health`, undefined, key);
		seen = health;
		const content = (await line.textContent()) ?? '';
		return [
			health[0]?.toUpperCase() + health.slice(1),
			attempts.successes > 0 ? `${attempts.successes} of ${attempts.count} attempts succeeded` : `All ${attempts.count} attempts failed`,
			...(attempts.successes > 0 ? [`Median ${duration(attempts.median_ms)}`, `95 % within ${duration(attempts.p95_ms)}`] : []),
			`${states.waiting} waiting`,
			states.failed_unretried === 0 ? 'No delivery failed for good' : `${states.failed_unretried} failed for good, not sent again`,
			...(failure ? [cause(failure.error)] : []),
		].filter((part) => !content.includes(part));
	};
	await expect.poll(missing, patient).toEqual([]);
	expect(seen).toMatch(word);
}

test('a webhook is edited, paused, gets a new secret, and is deleted', async () => {
	const { page, faults, key, receiver, webhook } = await made('webhook-changed');
	const dialog = page.getByRole('dialog');
	await page.getByRole('button', { name: 'Edit' }).click();
	const url = page.getByLabel('URL', { exact: true });
	await url.fill('http://x');
	await page.getByRole('button', { name: 'Save', exact: true }).click();
	await page.locator('input[aria-invalid=true]').waitFor();
	await url.fill(`${receiver.url}/other`);
	await page.getByRole('button', { name: 'Save', exact: true }).click();
	await page.getByRole('heading', { name: `${receiver.url}/other`, level: 1 }).waitFor();
	const first = await fired(page, 'Delivered');
	expect(receiver.got.map((got) => got.path)).toEqual(['/hook/other']);

	await page.getByRole('button', { name: 'Pause' }).click();
	await page.getByText('Deliveries wait while the webhook is paused').waitFor();
	const waiting = await fired(page, 'Waiting', first);
	await page.locator('.wh-health').scrollIntoViewIfNeeded(); // it is fetched while it is visible
	await page.locator('.wh-health').getByText('Paused', { exact: true }).waitFor(patient);
	await page.locator('.wh-health').getByText('1 waiting').waitFor(patient);
	expect(await delivery(waiting, key)).toMatchObject({ state: 'waiting', attempts_made: 0 });
	expect(receiver.got).toHaveLength(1);
	await page.getByRole('button', { name: 'Resume' }).click();
	await page.locator('.wh-followed').getByText('Delivered', { exact: true }).waitFor(patient);

	const rotate = async (grace: string) => {
		await page.getByRole('button', { name: 'Replace secret' }).click();
		await dialog.getByLabel('Old secret expires').selectOption({ label: grace });
		await dialog.getByRole('button', { name: 'Replace secret' }).click();
		await dialog.getByText('This secret is shown only once').waitFor();
		return (await dialog.locator('code').first().textContent()) ?? '';
	};
	const second = await rotate('in 24 hours');
	await pictured(page, 'webhook-rotated');
	await dialog.getByRole('button', { name: 'Close' }).click();
	await page.getByText('Both secrets sign until').waitFor();
	const after = await fired(page, 'Delivered', waiting);
	const both = receiver.got.at(-1);
	expect(both && [webhook.secret, second].map((secret) => signs(secret, both))).toEqual([
		{ signed: true, of: 2 },
		{ signed: true, of: 2 },
	]);
	const third = await rotate('now');
	await dialog.getByRole('button', { name: 'Close' }).click();
	const last = await fired(page, 'Delivered', after);
	const one = receiver.got.at(-1);
	expect(one && [second, third].map((secret) => signs(secret, one))).toEqual([
		{ signed: false, of: 1 },
		{ signed: true, of: 1 },
	]);

	await page.getByRole('button', { name: 'Pause' }).click();
	await page.getByText('Deliveries wait while the webhook is paused').waitFor();
	const cancelled = await fired(page, 'Waiting', last);
	await page.getByRole('button', { name: 'Delete', exact: true }).click();
	await dialog.getByText('will be cancelled: 1.').waitFor(patient);
	await pictured(page, 'webhook-delete');
	await dialog.getByRole('button', { name: 'Cancel' }).click();
	expect(await ask<{ active: boolean }>(`/v1/webhooks/${webhook.id}`, undefined, key)).toMatchObject({ active: false });
	await page.getByRole('button', { name: 'Delete', exact: true }).click();
	await dialog.getByRole('button', { name: 'Delete webhook' }).click();
	await page.getByText('No webhooks yet').waitFor();
	expect(await ask(`/v1/webhooks/${webhook.id}`, undefined, key)).toMatchObject({ status: 'error' });
	await page.goto(`/dashboard/deliveries/${cancelled}`);
	await page.getByText('Cancelled', { exact: true }).waitFor(patient);
	expect(faults).toEqual([]);
});

test('the signature of a delivery is checked in the browser, and a wrong one is explained', async () => {
	const { page, faults, receiver, webhook } = await made('signature');
	await page.getByText('Nothing sent yet').waitFor();
	await fired(page, 'Delivered');
	await page.locator('.wh-health').scrollIntoViewIfNeeded(); // it is fetched while it is visible
	await page.locator('.wh-health').getByText('1 of 1 attempts succeeded').waitFor();
	const [got] = receiver.got;
	const sent: string[] = [];
	await page.getByText('Check the signature of a delivery').click();
	page.on('request', (request) => sent.push(request.url() + (request.postData() ?? '')));
	const check = page.getByRole('button', { name: 'Check', exact: true });
	await page.getByLabel('Secret', { exact: true }).fill(webhook.secret);
	await page.getByLabel('Header X-SERVICE-Signature').fill(String(got?.headers['x-service-signature']));
	await page.getByLabel('Body, as it was received').fill(got?.body ?? '');
	await check.click();
	await page.getByText('Valid', { exact: true }).waitFor();
	await pictured(page, 'webhook-signature');
	await page.getByLabel('Body, as it was received').fill(JSON.stringify(JSON.parse(got?.body ?? ''), null, 2));
	await check.click();
	await page.getByText('Valid as compact JSON').waitFor();
	await page.getByLabel('Secret', { exact: true }).fill('another');
	await check.click();
	await page.getByText('Another secret or another body was signed.').waitFor();
	expect(sent.filter((text) => text.includes(webhook.secret))).toEqual([]);
	expect(faults).toEqual([]);
});

test('the catalogue shows each type of event from the contract, and sends a test event of it', async () => {
	const key = await account(inject('data'), 'event-types');
	const receiver = await Receiver.start();
	const { page, faults } = await signedIn('/webhooks', key);
	await page.getByRole('link', { name: 'Event types' }).click();
	const { webhooks } = await ask<{ webhooks: Record<string, unknown> }>('/openapi.json');
	const types = page.locator('tbody tr td:first-child');
	// Events of sources are for operators only.
	const wanted = Object.keys(webhooks).filter((type) => !type.startsWith('source.'));
	await expect.poll(async () => (await types.allTextContents()).sort()).toEqual(wanted.sort());
	const recharges = page.getByRole('region', { name: 'Recharges' });
	expect(await recharges.getByRole('link').allTextContents()).toEqual(wanted.filter((type) => type.startsWith('recharge.')));
	await pictured(page, 'event-types');
	await page.getByRole('link', { name: 'recharge.completed', exact: true }).click();
	await page.getByText('No webhook subscribes to this type yet.').waitFor();
	await page.getByRole('row', { name: /^completed_at string \(date-time\) Time when the operator/ }).waitFor();
	await page.getByText('JSON schema of data').click();
	await page.locator('.wh-payload').first().getByText('"unevaluatedProperties": false').waitFor();
	await page.locator('.wh-payload').last().getByText('"type": "recharge.completed"').waitFor();
	await page.getByRole('link', { name: 'Subscribe with a new webhook' }).click();
	await page.getByText('1 of').waitFor();
	await page.getByLabel('URL').fill(receiver.url);
	await page.getByRole('button', { name: 'Save webhook' }).click();
	await page.getByText('This secret is shown only once').waitFor();
	await page.goto('/dashboard/event-types/recharge.completed');
	await page.getByRole('button', { name: 'Send test event' }).click();
	await page.locator('.wh-followed').getByText('Delivered', { exact: true }).waitFor({ timeout: 120_000 });
	expect(JSON.parse(receiver.got[0]?.body ?? '{}')).toMatchObject({ type: 'recharge.completed', data: { test: true } });
	await pictured(page, 'event-type');
	await page.getByLabel('Language').selectOption('hi');
	await page.getByRole('heading', { name: 'इवेंट का उदाहरण' }).waitFor();
	await page.getByRole('row', { name: /^ref_id string अनुरोध का आपका संदर्भ।/ }).waitFor();
	await pictured(page, 'event-type-hindi');
	await page.goto('/dashboard/event-types/no.such');
	await page.getByText('ऐसा कोई प्रकार नहीं है').waitFor();
	expect(faults).toEqual([]);
});
