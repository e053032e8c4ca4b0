import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { keepScroll } from './scroll';

let stop: () => void;
let height = 5000;

beforeEach(() => {
	height = 5000;
	vi.stubGlobal('scrollY', 0);
	window.scrollTo = ((_: number, y: number) => void vi.stubGlobal('scrollY', Math.min(y, height - 800))) as typeof window.scrollTo;
	history.replaceState(null, '', '/dashboard/recharges');
	stop = keepScroll();
});
afterEach(() => {
	stop();
	vi.unstubAllGlobals();
});

/** scrolled moves the page as a reader does. */
function scrolled(y: number): void {
	vi.stubGlobal('scrollY', y);
	window.dispatchEvent(new Event('scroll'));
}

/** opened goes to another address as a link does. The page becomes short. */
function opened(path: string): void {
	history.pushState(null, '', path);
	window.dispatchEvent(new Event('pushState'));
	height = 900;
	scrolled(0);
}

/** back returns to an address. Its rows are drawn a little later. */
function back(path: string): void {
	history.replaceState(null, '', path);
	window.dispatchEvent(new Event('popstate'));
	setTimeout(() => {
		height = 5000;
	}, 100);
}

test('the back button returns to the place in a list, also if its rows are drawn later', async () => {
	scrolled(3000);
	opened('/dashboard/recharges/txn_1');
	back('/dashboard/recharges');
	await expect.poll(() => window.scrollY).toBe(3000);
});

test('a reader who scrolls in the meantime stays where they are', async () => {
	scrolled(3000);
	opened('/dashboard/recharges/txn_1');
	back('/dashboard/recharges');
	window.dispatchEvent(new Event('wheel'));
	await new Promise((done) => setTimeout(done, 300));
	expect(window.scrollY).toBe(0);
});
