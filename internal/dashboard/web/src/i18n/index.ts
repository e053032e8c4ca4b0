import { batch, computed, signal } from '@preact/signals';
import { en } from './en';

/** Language is a language of the dashboard. */
export type Language = 'en' | 'hi';

/** Key is the name of a text. */
export type Key = keyof typeof en;

type Catalog = Record<Key, string>;

// English is part of the first script. Other languages are fetched on demand.
const catalogs: Record<Language, () => Promise<Catalog>> = {
	en: async () => en,
	hi: async () => (await import('./hi')).hi,
};

const storageKey = 'vayu-language';
const texts = signal<Catalog>(en);
const shown = signal<Language>('en');

/** language is the current language. */
export const language = computed(() => shown.value);

/** locale is the current language with the number and date formats of India. */
export const locale = computed(() => `${shown.value}-IN`);

/** preferredLanguage returns the language stored in this browser, else the browser's own. */
export function preferredLanguage(): Language {
	const stored = localStorage.getItem(storageKey);
	if (stored === 'en' || stored === 'hi') {
		return stored;
	}
	return navigator.language.toLowerCase().startsWith('hi') ? 'hi' : 'en';
}

/** showLanguage loads the texts of a language, switches to it, and stores the choice in this browser. */
export async function showLanguage(chosen: Language): Promise<void> {
	const catalog = await catalogs[chosen]();
	batch(() => {
		texts.value = catalog;
		shown.value = chosen;
	});
	document.documentElement.lang = chosen;
	localStorage.setItem(storageKey, chosen);
}

/** t returns a text in the current language, with {name} replaced by values. */
export function t(key: Key, values?: Record<string, string | number>): string {
	const text = texts.value[key];
	return values ? text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole)) : text;
}
