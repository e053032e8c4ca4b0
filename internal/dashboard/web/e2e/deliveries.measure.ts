import { inject, test } from 'vitest';
import { ask, signedIn } from './browser';
import { Receiver } from './receiver';
import { account } from './service';
import { grown } from './store';

/** minutes is how long events arrive; 30 by default. */
const minutes = Number(process.env.MINUTES ?? 30);
const perSecond = 30;

/** subscribed returns a key, and its webhook at a new receiver. */
async function subscribed(name: string): Promise<{ key: string; webhook: string }> {
	const key = await account(inject('data'), name);
	const receiver = await Receiver.start();
	const { id } = await ask<{ id: string }>('/v1/webhooks', { url: receiver.url, events: ['recharge.completed'] }, key);
	await ask(`/v1/webhooks/${id}/test`, {}, key);
	return { key, webhook: id };
}

test('a list of 100,000 deliveries: tasks during a scroll through the first 5,000', async () => {
	const { key, webhook } = await subscribed('measure-many');
	await grown(webhook, 99_999);
	const { page } = await signedIn('/webhooks', key);
	await page.addInitScript(() => {
		const tasks: number[] = [];
		Object.assign(window, { tasks });
		new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => Math.round(duration)))).observe({
			type: 'longtask',
			buffered: true,
		});
	});
	await page.goto('/dashboard/deliveries');
	await page.locator('tr[data-index="0"]').hover();
	const rows = async () => Number(await page.locator('tr[data-index]').last().getAttribute('data-index'));
	for (let at = 0; at < 5_000; at = await rows()) {
		await page.mouse.wheel(0, 2_000);
		await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
	}
	const tasks = await page.evaluate(() => (window as unknown as { tasks: number[] }).tasks);
	console.info(`longest task ${Math.max(0, ...tasks)} ms, of ${tasks.length} over 50 ms`);
});

test(`the heap while ${perSecond} events a second arrive`, async () => {
	const { key, webhook } = await subscribed('measure-heap');
	const { page } = await signedIn('/deliveries', key);
	await page.locator('tr[data-index="0"]').waitFor();
	const devtools = await page.context().newCDPSession(page);
	const begin = Date.now();
	let [fired, accepted] = [0, 0];
	for (let minute = 0; minute <= minutes; ) {
		const elapsed = (Date.now() - begin) / 1_000;
		if (elapsed >= minute * 60) {
			await devtools.send('HeapProfiler.collectGarbage');
			const { usedSize } = await devtools.send('Runtime.getHeapUsage');
			const { nodes } = await devtools.send('Memory.getDOMCounters');
			console.info(`${minute} min, ${accepted} events: ${(usedSize / 1e6).toFixed(1)} MB, ${nodes} nodes`);
			minute++;
		}
		const due = Math.floor(elapsed * perSecond) - fired;
		const test = () => ask<{ delivery_id?: string }>(`/v1/webhooks/${webhook}/test`, {}, key);
		const replies = await Promise.all(Array.from({ length: Math.max(0, due) }, test));
		fired += replies.length;
		accepted += replies.filter((reply) => reply.delivery_id).length;
		await page.waitForTimeout(100);
	}
});
