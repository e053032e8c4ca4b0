import type { JSX } from 'preact';
import type { Schemas } from '../api/client';
import { ago, instant, number, tenths } from '../format';
import { type Key, t } from '../i18n';
import { Badge, StateBadge, type Tone } from '../ui/Badge';
import { useNow } from '../ui/useNow';

const tones: Record<Schemas['DeliveryState'], Tone> = { waiting: 'busy', delivered: 'good', failed: 'bad', cancelled: 'quiet' };

/** DeliveryBadge shows the state of a delivery. A delivery that waits after a failed attempt is shown as retried. */
export function DeliveryBadge(props: { of: { state: Schemas['DeliveryState']; attempts_made: number } }): JSX.Element {
	const { state, attempts_made: made } = props.of;
	if (state === 'waiting' && made > 0) {
		return <Badge tone="warn">{t('webhooks.state.retrying')}</Badge>;
	}
	return <StateBadge state={state} tones={tones} text={(known) => t(`webhooks.state.${known}`)} />;
}

const healths: Record<Schemas['WebhookHealth']['health'], Tone> = {
	idle: 'quiet',
	healthy: 'good',
	degraded: 'warn',
	failing: 'bad',
	paused: 'quiet',
};

/** HealthBadge shows the health of a webhook. */
export function HealthBadge(props: { health: Schemas['WebhookHealth']['health'] }): JSX.Element {
	return <StateBadge state={props.health} tones={healths} text={(health) => t(`webhooks.health.${health}`)} />;
}

/** deliveryStage describes how far an attempt got. */
export function deliveryStage(name: Schemas['Attempt']['stage']): string {
	return t(`webhooks.stage.${name}`);
}

/** responseText describes the result of an attempt. */
export function responseText(attempt: { stage: Schemas['Attempt']['stage']; http_status: number | null }): string {
	const { stage, http_status: status } = attempt;
	return status === null && stage !== 'status' ? t(`webhooks.unanswered.${stage}`) : t('webhooks.answered', { status: status ?? '' });
}

/** milliseconds formats a duration of the API as whole milliseconds, and from one second on as seconds. */
export function milliseconds(value: number): string {
	if (value >= 999.5) {
		return t('webhooks.s', { s: tenths(value / 1000) });
	}
	return t('webhooks.ms', { ms: value > 0 && value < 1 ? `< ${number(1)}` : number(Math.round(value)) });
}

/** subscribesTo describes what causes events of a type. */
export function subscribesTo(type: Schemas['EventType']): string {
	return t(`webhooks.fires.${type}` satisfies Key);
}

/** Due shows how long it is until the next attempt. paused is whether its webhook is paused. */
export function Due(props: { at: string | null; paused?: boolean }): JSX.Element {
	const now = useNow();
	if (props.paused) {
		return <span>{t('webhooks.due.resume')}</span>;
	}
	if (!props.at || !(Date.parse(props.at) > now.getTime())) {
		return <span>{t('webhooks.due.now')}</span>;
	}
	return (
		<span role="timer" aria-live="off" title={instant(props.at)}>
			{ago(props.at, now)}
		</span>
	);
}
