import { computed, effect, signal } from '@preact/signals';
import { t } from './i18n';

/** Zone is a time zone in which the page can show times. */
export type Zone = 'Asia/Kolkata' | 'UTC';

const storageKey = 'vayu-zone';
const storage = typeof localStorage === 'undefined' ? undefined : localStorage;

/** zone is the time zone stored in this browser. Days are always those of India, as in the API. */
export const zone = signal<Zone>(storage?.getItem(storageKey) === 'UTC' ? 'UTC' : 'Asia/Kolkata');

/** zoneName is the short name of the zone: IST or UTC, and in Hindi Indian time in words. */
export const zoneName = computed(() => (zone.value === 'UTC' ? 'UTC' : t('shell.zone.name')));

effect(() => storage?.setItem(storageKey, zone.value));
