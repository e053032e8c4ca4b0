import { batch, computed, signal } from '@preact/signals';
import { en } from './en';

/** Language is a language of the dashboard. */
export type Language = 'en' | 'hi';

/** Key is the name of a text. */
export type Key = keyof typeof en;

/** Catalog has the texts of a language, the names of states and cities, and the meanings of fields; a missing one is English. */
interface Catalog {
	texts: Record<Key, string>;
	states: Readonly<Record<string, string>>;
	cities: Readonly<Record<string, string>>;
	meanings: Readonly<Record<string, string>>;
}

const english: Catalog = { texts: en, states: {}, cities: {}, meanings: {} };

// English is part of the first script. Other languages are fetched on demand.
const catalogs: Record<Language, () => Promise<Catalog>> = {
	en: async () => english,
	hi: async () => {
		const { hi, states, cities, meanings } = await import('./hi');
		return { texts: hi, states, cities, meanings };
	},
};

const storageKey = 'vayu-language';
const catalog = signal<Catalog>(english);
const shown = signal<Language>('en');

/** language is the current language. */
export const language = computed(() => shown.value);

/** locale is the current language with the number and date formats of India. */
export const locale = computed(() => `${shown.value}-IN`);

/** preferredLanguage returns the language stored in this browser, and otherwise the language of the browser. */
export function preferredLanguage(): Language {
	const stored = localStorage.getItem(storageKey);
	if (stored === 'en' || stored === 'hi') {
		return stored;
	}
	return navigator.language.toLowerCase().startsWith('hi') ? 'hi' : 'en';
}

/** showLanguage loads the texts of a language, switches to it, and stores the choice in this browser. */
export async function showLanguage(chosen: Language): Promise<void> {
	const fetched = await catalogs[chosen]();
	batch(() => {
		catalog.value = fetched;
		shown.value = chosen;
	});
	document.documentElement.lang = chosen;
	localStorage.setItem(storageKey, chosen);
}

/** t returns a text in the current language, with {name} replaced by values. */
export function t(key: Key, values?: Record<string, string | number>): string {
	const text = catalog.value.texts[key];
	return values ? text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole)) : text;
}

/** meaningOf returns a description of the contract in the current language; the description itself if it has no other text. */
export function meaningOf(description: string): string {
	return catalog.value.meanings[description] ?? description;
}

/** stateName returns the name of a state or union territory in the current language. The API names it in English. */
export function stateName(name: string): string {
	return catalog.value.states[name] ?? name;
}

/**
 * cityName returns the name of a city in the current language, and any other text as it is. The API names cities in
 * English, and those that share a name with their states, such as Aurangabad, Bihar.
 */
export function cityName(name: string): string {
	const { cities, states } = catalog.value;
	const [, city = '', state = ''] = /^(.+), (.+)$/.exec(name) ?? [];
	const found = cities[name] ?? cities[city];
	if (!found || city === '') {
		return found ?? name;
	}
	return states[state] ? `${found}, ${states[state]}` : name;
}

/** stateBeside returns the name of a state to show beside a city; '' if the city has the same name or names its state. */
export function stateBeside(city: string, state: string): string {
	const name = stateName(state);
	return name === cityName(city) || city.endsWith(`, ${state}`) ? '' : name;
}

/** cityAndState returns the name of a city without its state, and its state; '' if it has the name of the city. */
export function cityAndState(city: string, state: string): readonly [city: string, state: string] {
	const [name, beside] = [cityName(city), stateName(state)];
	return [name.replace(`, ${beside}`, '').replace(` (${beside})`, ''), name === beside ? '' : beside];
}

/** stateOptions returns an option for each state, with its name in the current language, in the order of the states. */
export function stateOptions(states: readonly string[]): (readonly [value: string, text: string])[] {
	const order = new Intl.Collator(locale.value);
	return states.map((name) => [name, stateName(name)] as const).sort(([, one], [, other]) => order.compare(one, other));
}
