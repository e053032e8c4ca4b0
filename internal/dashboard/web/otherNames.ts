import { readFileSync } from 'node:fs';

/** otherNames returns the other names of each city of the gazetteer, by the name that the API gives it. */
export function otherNames(): Record<string, string[]> {
	const lines = readFileSync(`${import.meta.dirname}/../../../schema/gazetteer/cities.csv`, 'utf8')
		.split('\n')
		.filter((line) => line !== '' && !line.startsWith('#'))
		.map((line) => line.split(','));
	const shared = (name: string) => lines.filter(([other]) => other === name).length > 1;
	return Object.fromEntries(
		lines.map(([name = '', state = '', others = '']) => [shared(name) ? `${name}, ${state}` : name, others.split('|').filter(Boolean)]),
	);
}

/** cityNames is the Vite plugin that provides `virtual:city-names`, a chunk that only the search loads. */
export function cityNames(): { name: string; resolveId: (id: string) => string | undefined; load: (id: string) => string | undefined } {
	return {
		name: 'city-names',
		resolveId: (id) => (id === 'virtual:city-names' ? '\0virtual:city-names' : undefined),
		load: (id) => (id === '\0virtual:city-names' ? `export default ${JSON.stringify(otherNames())};` : undefined),
	};
}
