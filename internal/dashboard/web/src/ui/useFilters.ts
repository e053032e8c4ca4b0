import { useSearchParams } from 'wouter-preact';

/**
 * useFilters stores the filters of a page in its address, so that reloads, shared links and the back button keep
 * them. Empty filters are not in the address. With replace, a change adds no entry to the history of the browser.
 */
export function useFilters<K extends string>(
	names: readonly K[],
): [Partial<Record<K, string>>, (change: Partial<Record<K, string>>, options?: { replace: boolean }) => void] {
	const [search, setSearch] = useSearchParams();
	const filters: Partial<Record<K, string>> = {};
	for (const name of names) {
		const value = search.get(name);
		if (value) {
			filters[name] = value;
		}
	}
	const change = (changed: Partial<Record<K, string>>, options?: { replace: boolean }) =>
		setSearch((old) => {
			const next = new URLSearchParams(old);
			for (const [name, value] of Object.entries<string | undefined>(changed)) {
				if (value) {
					next.set(name, value);
				} else {
					next.delete(name);
				}
			}
			return next;
		}, options);
	return [filters, change];
}
