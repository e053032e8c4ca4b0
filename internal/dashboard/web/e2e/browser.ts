import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import axe, { type AxeResults } from 'axe-core';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import { expect, inject } from 'vitest';

const shots = resolve(import.meta.dirname, '../../shots');

// A failed test leaves a trace for `npx playwright show-trace`, and a screenshot and the HTML of its first page here. The
// trace has no snapshots of each step: they take a third of the processor time of all tests.
const failures = join(shots, 'failures');

// These flags stop the requests that Chromium sends to Google at every start.
const quiet = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-sync'];

const open: BrowserContext[] = [];
let browser: Browser | undefined;

/** launched returns the browser of all test files, and starts it if it does not run. Playwright ends it with the process. */
async function launched(): Promise<Browser> {
	if (!browser?.isConnected()) {
		browser = await chromium.launch({ executablePath: process.env.VAYU_CHROMIUM ?? '/usr/bin/chromium', args: quiet, timeout: 240_000 });
	}
	return browser;
}

/** closeWindows closes the windows of a test. After a failure it keeps what they showed under the name of the test. */
export async function closeWindows(name: string, failed: boolean): Promise<void> {
	await Promise.all(open.splice(0).map((context, n) => close(context, failed ? `${name} ${n + 1}` : '')));
}

/** close closes a window. After a failure it keeps the trace and a screenshot under the name of the test. */
async function close(context: BrowserContext, failure: string): Promise<void> {
	if (failure) {
		await mkdir(failures, { recursive: true });
		const file = join(failures, failure.replace(/[^a-z0-9]+/gi, '-'));
		const page = context.pages()[0];
		// A crashed page has no screenshot and no HTML. Its trace must be saved all the same.
		await page?.screenshot({ path: `${file}.png`, fullPage: true, timeout: 10_000 }).catch(() => undefined);
		const html = await page?.content().catch(() => undefined);
		if (html) {
			await writeFile(`${file}.html`, html);
		}
		await context.tracing.stop({ path: `${file}.zip` });
		process.stderr.write(`kept ${file}.png, .html and .zip\n`);
	}
	await context.close();
}

/** Seen is an open page with the faults that it has shown so far. */
export interface Seen {
	page: Page;
	/** faults are script errors and violations of the page's content security policy. */
	faults: string[];
}

/** phone makes a window that of a phone with a touch screen. */
export const phone: BrowserContextOptions = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

/** visit opens a new browser window at a path of the dashboard. */
export async function visit(path = '/', base = inject('base'), options: BrowserContextOptions = {}): Promise<Seen> {
	const context = await (await launched()).newContext({
		baseURL: base,
		viewport: { width: 1280, height: 800 },
		locale: 'en-IN',
		...options,
	});
	context.setDefaultTimeout(120_000);
	open.push(context);
	await context.tracing.start({ snapshots: false });
	const page = await context.newPage();
	const faults: string[] = [];
	page.on('pageerror', (error) => faults.push(String(error)));
	page.on('console', (message) => {
		if (message.type() === 'error' && !/Failed to load resource/.test(message.text())) {
			faults.push(message.text());
		}
	});
	await page.goto(`/dashboard${path}`);
	return { page, faults };
}

/** signedIn opens a window and signs in with a key, by default the sandbox key. */
export async function signedIn(
	path = '/',
	key = inject('sandbox'),
	base = inject('base'),
	options: BrowserContextOptions = {},
): Promise<Seen> {
	const seen = await visit(path, base, options);
	await seen.page.getByLabel('API key').fill(key);
	await seen.page.getByRole('button', { name: 'Sign in' }).click();
	// The navigation of a phone is folded.
	await seen.page.getByRole('navigation', { name: 'Main', includeHidden: true }).waitFor({ state: 'attached' });
	return seen;
}

/** ask calls the public API with a key. */
export async function ask<T>(path: string, body?: unknown, key = inject('sandbox'), base = inject('base')): Promise<T> {
	const reply = await fetch(base + path, {
		method: body === undefined ? 'GET' : 'POST',
		headers: { Authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
		body: body === undefined ? null : JSON.stringify(body),
	});
	return (await reply.json()) as T;
}

/** cut returns how many pixels of a part of a page are out of its view, at its right. */
export function cut(part: Locator): Promise<number> {
	return part.evaluate((one) => one.scrollWidth - one.clientWidth);
}

/** violations runs rules of axe, or the rules with tags, on the current page. */
async function violations(page: Page, type: 'rule' | 'tag', values: readonly string[]): Promise<AxeResults['violations']> {
	const options = JSON.stringify({ runOnly: { type, values } });
	return ((await page.evaluate(`${axe.source}; axe.run(document, ${options})`)) as AxeResults).violations;
}

/** described returns one line for each violation. */
function described(found: AxeResults['violations']): string[] {
	return found.map((violation) => `${violation.id}: ${violation.nodes.map((node) => node.html.slice(0, 160)).join(' | ')}`);
}

/** accessible runs axe on the current page and fails on serious or critical violations. */
export async function accessible(page: Page): Promise<void> {
	const found = await violations(page, 'tag', ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']);
	expect(described(found.filter(({ impact }) => impact === 'serious' || impact === 'critical'))).toEqual([]);
}

/** obeys fails if the current page violates one of the given rules of axe. */
export async function obeys(page: Page, ...rules: string[]): Promise<void> {
	expect(described(await violations(page, 'rule', rules))).toEqual([]);
}

/** drawn waits until a page has drawn what its new size changes, such as the number of rows, and what it still fetches. */
async function drawn(page: Page): Promise<void> {
	await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)))));
	await expect.poll(() => page.locator('.deferred, .spinner').count(), { timeout: 60_000 }).toBe(0);
}

/**
 * pictured takes a screenshot of a page at both widths in both colour schemes. It checks each for horizontal
 * scrolling and accessibility violations. CI takes each width and each scheme once: the layout depends on the width
 * alone, and the colours on the scheme alone.
 */
export async function pictured(page: Page, name: string): Promise<void> {
	await mkdir(shots, { recursive: true });
	await expect.poll(() => page.locator('.deferred').count(), { timeout: 60_000 }).toBe(0);
	const before = page.viewportSize();
	for (const [width, size, scheme] of [
		['desktop', { width: 1280, height: 800 }, 'light'],
		['phone', { width: 360, height: 740 }, 'dark'],
	] as const) {
		await page.setViewportSize(size);
		// Chromium leaves cards out of a picture if they were never in view.
		await page.evaluate(() => {
			const sheet = new CSSStyleSheet();
			sheet.replaceSync('tr { content-visibility: visible !important }');
			document.adoptedStyleSheets = [sheet];
		});
		for (const colorScheme of process.env.CI ? [scheme] : (['light', 'dark'] as const)) {
			await page.emulateMedia({ colorScheme });
			await drawn(page);
			// A list that draws only the rows near the window is pictured as the window shows it.
			const fullPage = (await page.locator('.wh-gap').count()) === 0;
			await page.screenshot({ path: join(shots, `${name}-${width}-${colorScheme}.png`), fullPage });
			await accessible(page);
		}
		const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
		expect(over, `${name} scrolls sideways at ${width} width`).toBe(0);
	}
	await page.evaluate(() => {
		document.adoptedStyleSheets = [];
	});
	await page.emulateMedia({ colorScheme: null });
	if (before) {
		await page.setViewportSize(before);
		// A form that unfolds has new fields. A text that is typed before would be lost.
		await drawn(page);
	}
}
