import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Page, Route } from 'playwright-core';
import { expect, inject, test } from 'vitest';
import { ask, phone, signedIn } from './browser';
import { account } from './service';

// Twelve screens look as in their reference pictures. The replies of the API are recorded and the time is fixed, so that
// a picture depends on the dashboard alone. `RECORD=1 .ci/browser reference` records the replies and the pictures again,
// after a change that is wanted.
const folder = join(import.meta.dirname, 'reference');
const failures = resolve(import.meta.dirname, '../../shots/reference');
const recordsNow = process.env.RECORD === '1';

/** screens are the names of the pictures, and the addresses of their pages. */
const screens: Readonly<Record<string, string>> = {
	home: '/home',
	map: '/',
	city: '/air/Delhi',
	rankings: '/rankings',
	compare: '/compare?city=Delhi&city=Mumbai',
	sources: '/sources',
	recharges: '/recharges',
	'new-recharge': '/recharges/new',
	wallet: '/wallet',
	webhooks: '/webhooks',
	keys: '/keys',
	usage: '/usage',
};

/** Recording has the replies of the API by path and query, and the time at which they were recorded. */
interface Recording {
	at: string;
	replies: Record<string, { status: number; type: string; body: string }>;
}

const file = join(folder, 'replies.json');

/** loaded returns the stored recording, or an empty one if the replies are recorded now. */
async function loaded(): Promise<Recording> {
	return recordsNow ? { at: '', replies: {} } : (JSON.parse(await readFile(file, 'utf8')) as Recording);
}

/** populated gives an account what its pages show. */
async function populated(key: string): Promise<void> {
	await ask('/v1/wallet/topups', { amount: 500, ref_id: 'reference-topup' }, key);
	for (const [n, mobile] of ['9000000001', '9000000002', '9000000003'].entries()) {
		await ask('/v1/recharge', { mobile, operator: 'auto', amount: 19, type: 'prepaid', ref_id: `reference-${n}` }, key);
	}
	await ask('/v1/webhooks', { url: 'https://127.0.0.1:9/reference', events: ['recharge.completed'] }, key);
	const statuses = async () => JSON.stringify(await ask('/v1/recharge', undefined, key));
	await expect.poll(statuses, { timeout: 120_000 }).not.toMatch(/"status":"(pending|processing)"/);
}

/** replied answers requests of the page from a recording, or records the replies of the service. missing gets unknown paths. */
async function replied(page: Page, recording: Recording, missing: Set<string>): Promise<void> {
	await page.route('**/v1/**', async (route: Route) => {
		const { pathname, search } = new URL(route.request().url());
		const path = pathname + search;
		if (recordsNow && !recording.replies[path]) {
			const reply = await route.fetch();
			recording.replies[path] = { status: reply.status(), type: reply.headers()['content-type'] ?? '', body: await reply.text() };
		}
		const reply = recording.replies[path];
		if (reply) {
			await route.fulfill({ status: reply.status, contentType: reply.type, body: reply.body });
		} else {
			missing.add(path);
			await route.abort();
		}
	});
}

// style sets one font, because the fonts of machines differ, and draws rows that were never in view, because they have an
// effect on the widths of columns.
const style = `*, ::before, ::after { font-family: 'Noto Sans' !important; animation: none !important; transition: none !important }
	tr { content-visibility: visible !important }`;

/** silenceLiveUpdates gives a page a stream of live updates that is connected and has no notices. */
function silenceLiveUpdates(): void {
	Object.defineProperty(window, 'EventSource', {
		value: class extends EventTarget {
			onopen?: () => void;

			constructor() {
				super();
				setTimeout(() => this.onopen?.());
			}

			close(): void {}
		},
	});
}

/** settled waits until a page has all its data and draws nothing more. */
async function settled(page: Page): Promise<void> {
	await page.waitForLoadState('networkidle');
	await page.evaluate(async (text) => {
		const sheet = new CSSStyleSheet();
		sheet.replaceSync(text);
		document.adoptedStyleSheets = [sheet];
		await document.fonts.ready;
	}, style);
	let before = '';
	const changes = async () => {
		const [last, now] = [before, await page.locator('body').innerHTML()];
		before = now;
		return last !== now || /class="(deferred|spinner)"/.test(now);
	};
	await expect.poll(changes, { timeout: 60_000, interval: 1000 }).toBe(false);
}

/**
 * difference returns the share of blocks of 8 × 8 pixels, from 0 to 1, whose mean colours differ by more than a tenth in a
 * channel. Means do not depend on how a version of Chromium smooths letters.
 */
function difference(page: Page, one: Buffer, other: Buffer): Promise<number> {
	return page.evaluate(
		async (pictures) => {
			const [a, b] = await Promise.all(
				pictures.map(async (base64) => {
					const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
					const picture = await createImageBitmap(new Blob([bytes]));
					const [width, height] = [Math.ceil(picture.width / 8), Math.ceil(picture.height / 8)];
					const small = await createImageBitmap(picture, { resizeWidth: width, resizeHeight: height, resizeQuality: 'high' });
					const context = new OffscreenCanvas(width, height).getContext('2d');
					context?.drawImage(small, 0, 0);
					return context?.getImageData(0, 0, width, height).data ?? new Uint8ClampedArray();
				}),
			);
			if (!a || !b || a.length !== b.length) {
				return 1;
			}
			let differs = 0;
			for (let i = 0; i < a.length; i += 4) {
				differs += [0, 1, 2].some((channel) => Math.abs((a[i + channel] ?? 0) - (b[i + channel] ?? 0)) > 25) ? 1 : 0;
			}
			return differs / (a.length / 4);
		},
		[one.toString('base64'), other.toString('base64')],
	);
}

const sizes = [
	['desktop', { colorScheme: 'light', timezoneId: 'Asia/Kolkata' }],
	['phone', { ...phone, colorScheme: 'dark', timezoneId: 'Asia/Kolkata' }],
] as const;

test('twelve screens look as in their reference pictures', async () => {
	const recording = await loaded();
	const key = await account(inject('data'), 'reference');
	if (recordsNow) {
		await populated(key);
		recording.at = new Date().toISOString();
		await mkdir(folder, { recursive: true });
	}
	await mkdir(failures, { recursive: true });
	const missing = new Set<string>();
	const differences: Record<string, number> = {};
	for (const [size, options] of sizes) {
		const { page } = await signedIn('/sessions', key, undefined, options);
		await page.clock.setFixedTime(recording.at);
		await page.addInitScript(silenceLiveUpdates);
		await replied(page, recording, missing);
		for (const [screen, path] of Object.entries(screens)) {
			const name = `${screen}-${size}.png`;
			await page.goto(`/dashboard${path}`);
			await settled(page);
			const picture = await page.screenshot({ scale: 'css' });
			if (recordsNow) {
				await writeFile(join(folder, name), picture);
			} else {
				differences[name] = await difference(page, await readFile(join(folder, name)), picture);
				await writeFile(join(failures, name), picture);
			}
		}
	}
	if (recordsNow) {
		await writeFile(file, `${JSON.stringify(recording)}\n`);
	}
	console.info(differences);
	expect([...missing], 'requests without a recorded reply').toEqual([]);
	expect(Object.entries(differences).filter(([, share]) => share > 0.02)).toEqual([]);
});
