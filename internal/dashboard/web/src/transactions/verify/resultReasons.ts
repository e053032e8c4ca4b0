import type { Schemas } from '../../api/client';
import type { Key } from '../../i18n';

/** Reason is a reason for or against the result of a verification. */
export interface Reason {
	for: boolean;
	says: Key;
	values?: Record<string, string | number>;
}

/**
 * resultReasons returns why an account is verified or not. The API does not return whether a name was given. If
 * name_match is none but the account is verified, the request had no name.
 */
export function resultReasons(of: Schemas['Verification']): Reason[] {
	if (of.status !== 'success') {
		return of.error ? [{ for: false, says: refusals[of.error.code] ?? 'verify.why.unknown' }] : [];
	}
	const active = of.account_status === 'active';
	const found: Reason[] = [{ for: active, says: `verify.why.${of.account_status ?? 'active'}` }];
	const score = of.name_match_score ?? 0;
	if (of.name_match === 'none') {
		if (of.verified) {
			found.push({ for: true, says: 'verify.why.noname' });
		} else if (active || score > 0) {
			found.push({ for: false, says: 'verify.why.none', values: { score } });
		}
	} else if (of.name_match) {
		found.push({ for: true, says: `verify.why.${of.name_match}`, values: { score } });
	}
	return found;
}

const refusals: Record<string, Key> = {
	account_not_found: 'verify.why.account_not_found',
	vpa_not_found: 'verify.why.vpa_not_found',
	bank_timeout: 'verify.why.bank_timeout',
	bank_network_error: 'verify.why.bank_network_error',
};
