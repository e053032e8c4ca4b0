import { render, screen } from '@testing-library/preact';
import { expect, test } from 'vitest';
import type { Schemas } from '../api/client';
import { DeliveryOutcome } from './DeliveryOutcome';

type Delivery = Schemas['DeliveryDetailed'];

const refused = { error: 'the receiver refused the connection', http_status: null, stage: 'connect' };

function delivery(state: Delivery['state'], made: number, more: object = {}): Delivery {
	const attempts = Array.from({ length: made }, (_, n) => ({ ...refused, attempt: n + 1, at: new Date(n * 3_600_000).toISOString() }));
	return { state, attempts_made: made, attempts, retried_as: null, next_attempt_at: null, ...more } as unknown as Delivery;
}

test.each([
	['Given up after 8 attempts in 7 hours.', delivery('failed', 8)],
	['Failed, because too many deliveries of the webhook waited. Attempts: 3.', delivery('failed', 3)],
	['Not delivered yet: 2 of 8 attempts failed.', delivery('waiting', 2)],
	['No attempt yet.', delivery('waiting', 0)],
	['The receiver acknowledged attempt 2.', delivery('delivered', 2, { attempts: [{ ...refused, error: '', http_status: 204 }] })],
	['The webhook was deleted.', delivery('cancelled', 0)],
	['A new delivery has replaced this one.', delivery('cancelled', 1, { retried_as: 'dlv_1' })],
] as const)('the page of a delivery begins with: %s', (sentence, of) => {
	render(<DeliveryOutcome of={of} />);
	expect(screen.getByRole('status').textContent).toContain(sentence);
	const failed = of.attempts.at(-1)?.error ? 1 : 0;
	expect(screen.queryAllByText('The last attempt got no answer: the receiver refused the connection.')).toHaveLength(failed);
});
