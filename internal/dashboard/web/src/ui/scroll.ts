/** patience is how long a page that was left may take to become as long as it was, in milliseconds. */
const patience = 3000;

/**
 * keepScroll returns the reader to the place on a page when the back button returns to it. The rows of lists are still
 * cached then, but they are drawn after the browser has restored its own position. The returned function stops it.
 */
export function keepScroll(): () => void {
	const places = new Map<string, number>();
	let here = location.href;
	let frame = 0;
	history.scrollRestoration = 'manual';
	const scrolled = () => {
		// A page that is being left shrinks before its address changes or after it. Only the reader's place counts.
		if (location.href === here && frame === 0) {
			places.set(here, window.scrollY);
		}
	};
	const stop = () => {
		cancelAnimationFrame(frame);
		frame = 0;
	};
	const returned = () => {
		stop();
		here = location.href;
		const wanted = places.get(here) ?? 0;
		const end = performance.now() + patience;
		let reached = false;
		const next = () => {
			window.scrollTo(0, wanted);
			const arrived = Math.abs(window.scrollY - wanted) <= 1;
			// The heading of a page takes the focus once, which can scroll. One more frame comes after it.
			if ((arrived && reached) || performance.now() > end) {
				frame = 0;
				return;
			}
			reached = arrived;
			frame = requestAnimationFrame(next);
		};
		frame = requestAnimationFrame(next);
	};
	const went = () => {
		stop();
		here = location.href;
	};
	const events = ['pushState', 'replaceState'] as const;
	window.addEventListener('scroll', scrolled, { passive: true });
	window.addEventListener('popstate', returned);
	window.addEventListener('wheel', stop, { passive: true });
	window.addEventListener('touchstart', stop, { passive: true });
	window.addEventListener('keydown', stop);
	for (const name of events) {
		window.addEventListener(name, went);
	}
	return () => {
		stop();
		window.removeEventListener('scroll', scrolled);
		window.removeEventListener('popstate', returned);
		window.removeEventListener('wheel', stop);
		window.removeEventListener('touchstart', stop);
		window.removeEventListener('keydown', stop);
		for (const name of events) {
			window.removeEventListener(name, went);
		}
	};
}
