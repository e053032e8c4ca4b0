/**
 * prefetch runs loads one after the other while the page is idle, so that later pages open without waiting for their
 * scripts. It ends at the first failure, and does nothing if the browser saves data. The returned function stops it.
 */
export function prefetch(loads: readonly (() => Promise<unknown>)[]): () => void {
	const left = [...loads];
	const { connection } = navigator as Navigator & { connection?: { saveData?: boolean } };
	let waiting = 0;
	const wait = () => {
		waiting = window.setTimeout(next, 100);
	};
	const next = async () => {
		const load = left.shift();
		try {
			await load?.();
		} catch {
			return; // The page shows the failure when it is opened.
		}
		if (left.length > 0) {
			wait();
		}
	};
	if (!connection?.saveData) {
		wait();
	}
	return () => {
		left.length = 0;
		clearTimeout(waiting);
	};
}
