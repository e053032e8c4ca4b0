import { render, screen } from '@testing-library/preact';
import { expect, test } from 'vitest';
import type { Schemas } from '../../api/client';
import { Result } from './VerificationDetail';

const found = {
	status: 'success',
	verified: true,
	account_status: 'active',
	name_match: 'exact',
	name_match_score: 100,
	suspicious: false,
	suspicious_reasons: [],
} as unknown as Schemas['Verification'];

test('a flagged account has one box, which begins with the warning and its reasons', () => {
	render(<Result of={{ ...found, suspicious: true, suspicious_reasons: ['mule_account', 'reported_fraud'] }} />);
	expect(screen.getByRole('status').textContent).toBe(
		'Exists, verified Suspicious Banks have flagged this account: it forwards money for others, a fraud was reported.',
	);
	expect(screen.getByText(/^It exists, is active, and passes the check\. The flag does not change/)).toBeTruthy();
});

test('an account without a flag has no warning', () => {
	render(<Result of={found} />);
	expect(screen.getByRole('status').textContent).toBe('Exists, verified  It exists, is active, and passes the check.');
	expect(screen.queryByText(/flag/)).toBeNull();
});
