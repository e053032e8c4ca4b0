import { batch, computed, signal } from '@preact/signals';
import { en } from './en';

/** Language is one in which the page can be read. */
export type Language = 'en' | 'hi';

/** Key names a text. */
export type Key = keyof typeof en;

type Catalog = Record<Key, string>;

// English is part of the first script. Other languages are fetched when they are chosen.
const catalogs: Record<Language, () => Promise<Catalog>> = {
	en: async () => en,
	hi: async () => (await import('./hi')).hi,
};

const storageKey = 'vayu-language';
const texts = signal<Catalog>(en);
const shown = signal<Language>('en');

/** language is the one that is shown. */
export const language = computed(() => shown.value);

/** locale is the language with India's way to write numbers and dates. */
export const locale = computed(() => `${shown.value}-IN`);

/** preferredLanguage is the choice that this browser keeps, else the browser's own language. */
export function preferredLanguage(): Language {
	const stored = localStorage.getItem(storageKey);
	if (stored === 'en' || stored === 'hi') {
		return stored;
	}
	return navigator.language.toLowerCase().startsWith('hi') ? 'hi' : 'en';
}

/** showLanguage switches to a language once its texts are here, and keeps the choice in this browser. */
export async function showLanguage(chosen: Language): Promise<void> {
	const catalog = await catalogs[chosen]();
	batch(() => {
		texts.value = catalog;
		shown.value = chosen;
	});
	document.documentElement.lang = chosen;
	localStorage.setItem(storageKey, chosen);
}

/** t is a text in the language that is shown, with {name} replaced by values. */
export function t(key: Key, values?: Record<string, string | number>): string {
	const text = texts.value[key];
	return values ? text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole)) : text;
}
