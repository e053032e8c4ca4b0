import { signal } from '@preact/signals';

const storageKey = 'vayu-places';

/** mostSaved is the maximum number of saved places. Each counts as one call when they are fetched. */
export const mostSaved = 10;

/** read returns the saved names of a browser. Invalid content of the storage counts as no names. */
export function read(text: string | null): string[] {
	try {
		const names: unknown = JSON.parse(text ?? '[]');
		return Array.isArray(names) ? names.filter((name) => typeof name === 'string').slice(0, mostSaved) : [];
	} catch {
		return [];
	}
}

const storage = typeof localStorage === 'undefined' ? undefined : localStorage;

/** saved are the names of the cities that this browser shows on the home page, in the order of their saving. */
export const saved = signal<readonly string[]>(read(storage?.getItem(storageKey) ?? null));

/** save adds a city to the saved ones, or removes it. If the list is full, a new city replaces the oldest one. */
export function save(name: string, on: boolean): void {
	const others = saved.value.filter((other) => other !== name);
	saved.value = on ? [...others, name].slice(-mostSaved) : others;
	storage?.setItem(storageKey, JSON.stringify(saved.value));
}
