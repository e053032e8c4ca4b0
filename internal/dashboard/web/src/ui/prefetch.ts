/** pause is the time between two loads, and between two checks of a busy page, in milliseconds. */
const pause = 250;

/**
 * prefetch runs loads one after the other, so that later pages open without waiting for their scripts. It waits while the
 * page is busy, ends at the first failure, and does nothing if the browser saves data. The returned function stops it.
 */
export function prefetch(loads: readonly (() => Promise<unknown>)[], busy: () => boolean): () => void {
	const { connection } = navigator as Navigator & { connection?: { saveData?: boolean } };
	let [stopped, waiting] = [connection?.saveData === true, 0];
	const left = [...loads];
	const next = async () => {
		try {
			await (busy() || left.shift()?.());
		} catch {
			return; // The page shows the failure when it is opened.
		}
		wait();
	};
	const wait = () => {
		if (!stopped && left.length > 0) {
			waiting = window.setTimeout(next, pause);
		}
	};
	wait();
	return () => {
		stopped = true;
		clearTimeout(waiting);
	};
}
