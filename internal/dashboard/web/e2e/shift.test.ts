import { expect, inject, test } from 'vitest';
import { phone, signedIn } from './browser';

/** Shifts are the layout shifts of a page since its load, with the parts that moved. */
interface Shifts {
	score: number;
	moved: string[];
}

/** observe makes pages collect their layout shifts. A shift after input is expected, and does not count. */
function observe(): void {
	const shifts: Shifts = { score: 0, moved: [] };
	Object.assign(window, { shifts });
	type Shift = PerformanceEntry & { value: number; hadRecentInput: boolean; sources: { node?: Node }[] };
	new PerformanceObserver((list) => {
		for (const shift of list.getEntries() as Shift[]) {
			if (!shift.hadRecentInput) {
				shifts.score += shift.value;
				shifts.moved.push(
					`${shift.value.toFixed(3)}: ${shift.sources.map(({ node }) => (node instanceof Element ? `${node.nodeName}.${node.className}` : node?.nodeName)).join(' ')}`,
				);
			}
		}
	}).observe({ type: 'layout-shift', buffered: true });
}

// The limit of the project. Browsers call 0.1 good.
const most = 0.05;

test.each([
	['/', 'list'],
	['/air/Delhi', 'Pollutants'],
	['/pin/411001', 'Pollutants'],
	['/compare?city=Delhi&city=Mumbai&city=Pune&city=Kolkata', 'Over time'],
	['/compare?city=Delhi&city=Mumbai', 'Over time'],
	['/recharges', ''],
	['/webhooks', ''],
	['/usage', ''],
])('%s does not move under its reader', async (path, heading) => {
	for (const [width, options] of Object.entries({ desktop: {}, phone })) {
		const { page } = await signedIn('/sessions', inject('sandbox'), inject('base'), options);
		await page.addInitScript(observe);
		await page.goto(`/dashboard${path}`);
		await page.getByRole('heading', { level: 1 }).waitFor();
		if (heading === 'list') {
			await page.getByRole('list', { name: 'Places' }).waitFor();
		} else if (heading) {
			await page.getByRole('heading', { name: heading }).waitFor();
		}
		// The health of a webhook is fetched when its card is seen, so cards below the window still wait for it.
		const waits = (all: Element[]) => all.filter((one) => one.getBoundingClientRect().top < window.innerHeight).length;
		await expect.poll(() => page.locator('.spinner').evaluateAll(waits)).toBe(0);
		// The last parts are drawn in the frames after their data.
		await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
		const shifts = await page.evaluate(() => (window as unknown as { shifts: Shifts }).shifts);
		expect(shifts.score, `${width}: ${shifts.moved.join('; ')}`).toBeLessThan(most);
	}
});
