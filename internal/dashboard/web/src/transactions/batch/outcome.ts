import type { Schemas } from '../../api/client';
import { number } from '../../format';
import { type Key, t } from '../../i18n';
import type { Kind } from './kind';

/** Result is the result of one record of a batch. */
export type Result = Schemas['BatchRecharge'] | Schemas['BatchVerification'] | Schemas['BatchRefused'] | Schemas['BatchQueued'];

/** Outcome is how a record of a batch ended. A recharge is never missing. */
export type Outcome = 'good' | 'missing' | 'failed';

/** outcomesOf are the outcomes of a kind of batch, with their names. */
export const outcomesOf: Readonly<Record<Kind, readonly (readonly [Outcome, Key])[]>> = {
	recharge: [
		['good', 'batch.part.good.recharge'],
		['failed', 'batch.failed.recharge'],
	],
	verification: [
		['good', 'batch.outcome.exist'],
		['missing', 'batch.outcome.missing'],
		['failed', 'batch.failed.verification'],
	],
};

const absent: readonly string[] = ['account_not_found', 'vpa_not_found'];

/** outcomeOf returns how a record ended; undefined if it has not ended. An account that does not exist is an answer of a bank. */
export function outcomeOf(of: { status: string; error?: { code: string } | undefined }): Outcome | undefined {
	switch (of.status) {
		case 'success':
		case 'refunded':
			return 'good';
		case 'failed':
		case 'error':
			return of.error && absent.includes(of.error.code) ? 'missing' : 'failed';
		default:
			return undefined;
	}
}

/** Counts is the number of records by outcome; undefined if it is not known. */
export type Counts = Readonly<Record<Outcome, number | undefined>>;

/**
 * countsOf returns the number of records by outcome. existing is the number of verified accounts that exist; all other
 * answers are about accounts that do not exist.
 */
export function countsOf(kind: Kind, batch: { successful: number; failed: number }, existing: number | undefined): Counts {
	const { successful, failed } = batch;
	return kind === 'recharge'
		? { good: successful, missing: undefined, failed }
		: { good: existing, missing: existing === undefined ? undefined : successful - existing, failed };
}

/** headline says how the records ended: "9 exist, 1 does not exist". It is undefined if a number is not known. */
export function headline(kind: Kind, counts: Counts): string | undefined {
	const { good, missing = 0, failed = 0 } = counts;
	if (good === undefined) {
		return undefined;
	}
	if (kind === 'recharge') {
		return t('batch.counts.recharge', { successful: number(good), failed: number(failed) });
	}
	return [
		t(good === 1 ? 'batch.exist.one' : 'batch.exist', { count: number(good) }),
		t(missing === 1 ? 'batch.missing.one' : 'batch.missing', { count: number(missing) }),
		...(failed > 0 ? [t('batch.unanswered', { count: number(failed) })] : []),
	].join(', ');
}
