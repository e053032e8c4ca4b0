import type { JSX } from 'preact';
import type { Schemas } from '../api/client';
import { number } from '../format';
import { locale, t } from '../i18n';
import type { Tone } from '../ui/Badge';
import { Outcome } from '../ui/Outcome';
import { attemptError, statusOf } from './attemptError';
import { DeliveryBadge, Due } from './DeliveryBadge';
import { lasting, mostAttempts } from './eventTypes';

type Delivery = Schemas['DeliveryDetailed'];

const tones: Record<Delivery['state'], Tone> = { waiting: 'warn', delivered: 'good', failed: 'bad', cancelled: 'quiet' };

/** DeliveryOutcome says how a delivery ended, or how far it is, and what the receiver answered last. paused is whether its webhook is paused. */
export function DeliveryOutcome(props: { of: Delivery; paused?: boolean }): JSX.Element {
	const { of } = props;
	const last = of.attempts.at(-1);
	const tone = of.state === 'waiting' && of.attempts_made === 0 ? 'busy' : tones[of.state];
	return (
		<Outcome tone={tone} badge={<DeliveryBadge of={of} />} says={sentence(of)}>
			{last?.error && (
				<p>
					<LastAnswer of={last} />
				</p>
			)}
			{of.state === 'waiting' && (
				<p>
					{t('webhooks.next')}: <Due at={of.next_attempt_at} paused={props.paused ?? false} />
				</p>
			)}
		</Outcome>
	);
}

/** LastAnswer says what the receiver answered to a failed attempt, or why it did not. */
export function LastAnswer(props: { of: Pick<Schemas['Attempt'], 'error' | 'http_status'> }): JSX.Element {
	const status = statusOf(props.of);
	return <>{status ? t('webhooks.outcome.answer', { status }) : t('webhooks.outcome.unanswered', { cause: attemptError(props.of) })}</>;
}

function sentence(of: Delivery): string {
	const made = of.attempts_made;
	switch (of.state) {
		case 'waiting':
			return made === 0
				? t('webhooks.outcome.waiting')
				: t('webhooks.outcome.retrying', { count: number(made), most: number(mostAttempts) });
		case 'delivered':
			return t('webhooks.outcome.delivered', { n: number(made) });
		case 'cancelled':
			return t(of.retried_as ? 'webhooks.outcome.replaced' : 'webhooks.outcome.deleted');
		case 'failed': {
			const [first, last] = [of.attempts[0], of.attempts.at(-1)];
			if (made < mostAttempts || !first || !last) {
				return t('webhooks.outcome.overflow', { count: number(made) });
			}
			const seconds = (Date.parse(last.at) - Date.parse(first.at)) / 1000;
			return t('webhooks.outcome.givenup', { count: number(made), time: lasting(seconds, locale.value) });
		}
	}
}
