import { inject, test } from 'vitest';
import { phone, signedIn } from './browser';

/** Measured is one opening of a route. */
interface Measured {
	/** ready is when the page had its data and no long task followed, in milliseconds after the click. */
	ready: number;
	/** longest is the longest task, in milliseconds. */
	longest: number;
	/** scripts is the size of all scripts since sign-in, compressed, in KB. */
	scripts: number;
}

const routes = [
	...['/', '/home', '/air/Delhi', '/pin/411001', '/rankings', '/compare?city=Delhi&city=Mumbai&city=Pune', '/forecast', '/alerts'],
	...['/sources', '/recharges', '/recharges/new', '/verifications', '/verifications/new', '/batches', '/batches/new', '/wallet'],
	...['/webhooks', '/event-types', '/deliveries', '/events', '/keys', '/members', '/usage', '/audit'],
];

/**
 * opened opens a path as a link does, and returns when the page has been ready for a second. A page is ready when it has a
 * heading, and no spinner inside the window.
 */
function opened(path: string): Promise<Measured> {
	return new Promise((done) => {
		const start = performance.now();
		let [ready, longest, lastTask] = [0, 0, start];
		const tasks = new PerformanceObserver((list) => {
			for (const { startTime, duration } of list.getEntries()) {
				if (startTime >= start) {
					longest = Math.max(longest, duration);
					lastTask = Math.max(lastTask, startTime + duration);
				}
			}
		});
		tasks.observe({ type: 'longtask' });
		const old = document.querySelector('h1');
		history.pushState(null, '', path);
		window.dispatchEvent(new Event('pushState'));
		const watch = () => {
			const now = performance.now();
			const heading = document.querySelector('h1');
			const waits = [...document.querySelectorAll('.spinner')].some((one) => {
				const { top, height } = one.getBoundingClientRect();
				return height > 0 && top < window.innerHeight;
			});
			if (!heading || heading === old || waits) {
				ready = 0;
			} else if (ready === 0) {
				ready = now;
			}
			if ((ready > 0 && now - ready > 1_000 && now - lastTask > 500) || now - start > 20_000) {
				const scripts = (performance.getEntriesByType('resource') as PerformanceResourceTiming[])
					.filter(({ name }) => name.endsWith('.js'))
					.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0);
				tasks.disconnect();
				done({ ready: Math.max(ready, Math.min(lastTask, ready + 1_000)) - start, longest, scripts: scripts / 1024 });
				return;
			}
			requestAnimationFrame(watch);
		};
		requestAnimationFrame(watch);
	});
}

// A processor four times slower, and 1.6 Mbit/s with a round trip of 150 ms.
const slow = { offline: false, latency: 150, downloadThroughput: 1_600_000 / 8, uploadThroughput: 750_000 / 8 };

/** measured opens a path on the slow phone. A browser that saves data has fetched no script of the path before. */
async function measured(path: string, saveData: boolean): Promise<Measured> {
	const { page } = await signedIn('/sessions', inject(path === '/members' ? 'live' : 'sandbox'), inject('base'), phone);
	await page.addInitScript((saveData) => Object.defineProperty(navigator, 'connection', { value: { saveData } }), saveData);
	const devtools = await page.context().newCDPSession(page);
	await devtools.send('Network.enable');
	await devtools.send('Network.clearBrowserCache');
	await page.reload();
	await page.getByRole('heading', { level: 1 }).waitFor();
	await page.waitForLoadState('networkidle');
	await devtools.send('Network.emulateNetworkConditions', slow);
	await devtools.send('Emulation.setCPUThrottlingRate', { rate: 4 });
	const result = await page.evaluate(opened, `/dashboard${path}`);
	await page.context().close();
	return result;
}

test('routes on a phone after sign-in, with their scripts to fetch and with scripts fetched while the page was idle', async () => {
	const columns = (...texts: (string | number)[]) => texts.map((text) => String(text).padStart(16)).join('');
	console.info(`${''.padEnd(45)}${columns('ready ms', 'fetched before', 'longest task', 'scripts KB')}`);
	for (const path of routes) {
		const [first, later] = [await measured(path, true), await measured(path, false)];
		const figures = [first.ready, later.ready, later.longest, first.scripts].map(Math.round);
		console.info(`${path.padEnd(45)}${columns(...figures)}`);
	}
});
