import { expect, test } from 'vitest';
import type { Schemas } from '../../api/client';
import { resultReasons } from './resultReasons';

const base: Schemas['Verification'] = {
	status: 'success',
	verified: true,
	verification_id: 'ver_1',
	method: 'penny_drop',
	created_at: '2026-11-22T04:29:10Z',
	account_status: 'active',
	name_match: 'exact',
	name_match_score: 100,
};

function says(of: Partial<Schemas['Verification']>): string[] {
	return resultReasons({ ...base, ...of }).map((reason) => `${reason.for ? '+' : '-'}${reason.says}`);
}

test('a result has its reasons', () => {
	expect(says({})).toEqual(['+verify.why.active', '+verify.why.exact']);
	expect(says({ name_match: 'partial', name_match_score: 82 })).toEqual(['+verify.why.active', '+verify.why.partial']);
	expect(says({ verified: false, name_match: 'none', name_match_score: 12 })).toEqual(['+verify.why.active', '-verify.why.none']);
	expect(says({ verified: false, account_status: 'frozen' })).toEqual(['-verify.why.frozen', '+verify.why.exact']);
});

test('a missing name has no effect on the result', () => {
	expect(says({ name_match: 'none', name_match_score: 0 })).toEqual(['+verify.why.active', '+verify.why.noname']);
	expect(says({ verified: false, account_status: 'closed', name_match: 'none', name_match_score: 0 })).toEqual(['-verify.why.closed']);
});

test('a failed verification has a reason, and a pending one has none yet', () => {
	const error = { code: 'vpa_not_found', message: '', retryable: false };
	expect(says({ status: 'failed', verified: false, error })).toEqual(['-verify.why.vpa_not_found']);
	expect(says({ status: 'failed', verified: false, error: { ...error, code: 'other' } })).toEqual(['-verify.why.unknown']);
	expect(says({ status: 'pending', verified: false })).toEqual([]);
});
