import { ago } from '../format';
import { t } from '../i18n';

/** staleAfter is the age in milliseconds beyond which figures are not current, as in the API. */
const staleAfter = 3 * 3_600_000;

/** Aged is anything of the API that says when it was measured. */
export interface Aged {
	stale: boolean;
	updated: string | null;
}

/**
 * isStale reports whether figures do not show the present air. A page can stay open for hours after its last fetch,
 * so the clock counts in addition to the field of the API.
 */
export function isStale(of: Aged, now: Date): boolean {
	return of.stale || of.updated === null || now.getTime() - Date.parse(of.updated) > staleAfter;
}

/** lastReported says how old the last figures are, for example "Last reported 125 days ago". */
export function lastReported(updated: string | null, now: Date): string {
	return updated === null ? t('air.never') : t('air.last', { ago: ago(updated, now) });
}
