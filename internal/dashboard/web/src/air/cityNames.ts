import { useEffect, useState } from 'preact/hooks';

/** Names has the other names of cities: old, new, misspelt, and in Indian scripts. */
export type Names = Readonly<Record<string, readonly string[]>>;

/** useCityNames fetches the other names of cities, a separate chunk, when they are wanted. */
export function useCityNames(wanted: boolean): Names {
	const [names, setNames] = useState<Names>({});
	useEffect(() => {
		let here = wanted;
		if (wanted) {
			void import('virtual:city-names').then(
				({ default: read }) => here && setNames(read),
				// Without the names the search still works.
				() => undefined,
			);
		}
		return () => {
			here = false;
		};
	}, [wanted]);
	return names;
}

/** keyOf returns the same key for all spellings of a name, as schema/gazetteer does: without case, accents, blanks and hyphens. */
function keyOf(name: string): string {
	return name
		.normalize('NFKD')
		.replace(/\u093c|\u200c|\u200d|[\u0300-\u036f]|[\s\p{Pd}.,()_]/gu, '')
		.toLowerCase();
}

/**
 * foundAs returns the other name by which a typed text finds a city. It is undefined if the text begins one of the
 * usual names, those of the page and of the API, or if no name is known that it begins.
 */
export function foundAs(typed: string, usual: readonly string[], others: readonly string[]): string | undefined {
	const key = keyOf(typed);
	const begins = (name: string) => keyOf(name).startsWith(key);
	return key === '' || usual.some(begins) ? undefined : others.find(begins);
}
