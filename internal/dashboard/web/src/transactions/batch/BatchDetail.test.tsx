import { render, screen } from '@testing-library/preact';
import { expect, test } from 'vitest';
import { VerificationBadge } from '../StatusBadge';
import { Progress } from './BatchProgress';

test('a batch of verifications counts answers, and a batch of recharges counts successes', () => {
	const batch = { total: 10, successful: 10, failed: 0, done: 10 };
	const { rerender } = render(<Progress batch={batch} kind="verification" />);
	expect(screen.getByText('10 of 10 done · 10 answered, 0 without an answer')).toBeTruthy();
	rerender(<Progress batch={batch} kind="recharge" />);
	expect(screen.getByText('10 of 10 done · 10 successful, 0 failed')).toBeTruthy();
});

test('the bar of a batch has a part for each result, and the counts are text', () => {
	const { container } = render(<Progress batch={{ total: 20, successful: 12, failed: 3, done: 15 }} kind="recharge" />);
	expect([...container.querySelectorAll<HTMLElement>('.shares > span')].map((part) => [part.className, part.style.flexGrow])).toEqual([
		['good', '12'],
		['bad', '3'],
		['rest', '5'],
	]);
	expect(screen.getAllByRole('listitem').map((part) => part.textContent)).toEqual(['12 Successful', '3 Failed', '5 Not done yet']);
});

test('an account that does not exist is no failed verification', () => {
	const error = { code: 'account_not_found', message: 'No such account.', retryable: false } as never;
	const { container } = render(<VerificationBadge of={{ status: 'failed', verified: false, error } as never} />);
	expect(container.textContent).toBe('Does not exist');
});
