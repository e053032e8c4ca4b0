import { computed, effect, signal } from '@preact/signals';
import { en } from './en';
import { hi } from './hi';

/** Language is one in which the page can be read. */
export type Language = 'en' | 'hi';

/** Key names a text. */
export type Key = keyof typeof en;

const catalogs: Record<Language, Record<Key, string>> = { en, hi };
const kept = 'vayu-language';

function first(): Language {
	const said = localStorage.getItem(kept);
	if (said === 'en' || said === 'hi') {
		return said;
	}
	return navigator.language.toLowerCase().startsWith('hi') ? 'hi' : 'en';
}

/** language is the one that is shown; it is kept in this browser. */
export const language = signal<Language>(first());

/** locale is the language with India's way to write numbers and dates. */
export const locale = computed(() => `${language.value}-IN`);

effect(() => {
	document.documentElement.lang = language.value;
	localStorage.setItem(kept, language.value);
});

/** t is a text in the language that is shown, with {name} replaced by values. */
export function t(key: Key, values?: Record<string, string | number>): string {
	const text = catalogs[language.value][key];
	return values ? text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole)) : text;
}
