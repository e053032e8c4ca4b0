import type { JSX } from 'preact';
import type { Schemas } from '../api/client';
import { locale, t } from '../i18n';
import { Badge, Copy, Time } from '../ui/Badge';
import { Due, deliveryStage, milliseconds } from './DeliveryBadge';
import { delays, span } from './eventTypes';

/** Attempts shows the attempts of a delivery and the schedule of the remaining ones. */
export function Attempts(props: { delivery: Schemas['DeliveryDetailed'] }): JSX.Element {
	const { delivery } = props;
	const coming = delivery.state === 'waiting' ? delays.slice(delivery.attempts.length) : [];
	return (
		<ol class="wh-attempts">
			{delivery.attempts.map((attempt) => (
				<Made key={attempt.attempt} attempt={attempt} />
			))}
			{coming.map((delay, index) => (
				<li key={delay} class="coming">
					<p class="wh-line">
						<strong>{t('webhooks.attempt', { n: delivery.attempts.length + index + 1 })}</strong>
						{index === 0 ? (
							<>
								<Due at={delivery.next_attempt_at} paused />
								{delivery.next_attempt_at && <Time at={delivery.next_attempt_at} exact />}
							</>
						) : (
							<span class="hint">{t('webhooks.attempt.after', { time: span(delay, locale.value) })}</span>
						)}
					</p>
				</li>
			))}
		</ol>
	);
}

function Made(props: { attempt: Schemas['Attempt'] }): JSX.Element {
	const { attempt } = props;
	const good = attempt.error === '';
	return (
		<li class={good ? 'good' : 'bad'}>
			<p class="wh-line">
				<strong>{t('webhooks.attempt', { n: attempt.attempt })}</strong>
				<Badge tone={good ? 'good' : 'bad'}>{t(good ? 'webhooks.attempt.good' : 'webhooks.attempt.bad')}</Badge>
				<Time at={attempt.at} exact />
			</p>
			<p class="wh-line">
				{attempt.error ? (
					<span class="wrong">{attempt.error}</span>
				) : (
					attempt.http_status !== null && <span>{t('webhooks.answered', { status: attempt.http_status })}</span>
				)}
				{attempt.http_status === null && <span>{t('webhooks.stage', { stage: deliveryStage(attempt.stage) })}</span>}
				<span>{milliseconds(attempt.duration_ms)}</span>
			</p>
			{attempt.response_body && (
				<details>
					<summary>{t('webhooks.attempt.body')}</summary>
					{/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
					<pre tabIndex={0}>
						<code>{attempt.response_body}</code>
					</pre>
				</details>
			)}
			<Headers title={t('webhooks.headers.received')} header={attempt.response_headers} cut={attempt.response_headers_truncated} />
			<Headers title={t('webhooks.headers.sent')} header={attempt.request_headers} />
		</li>
	);
}

function Headers(props: { title: string; header: Schemas['Attempt']['request_headers']; cut?: boolean }): JSX.Element | null {
	const { header } = props;
	return header.length === 0 ? null : (
		<details>
			<summary>{props.title}</summary>
			<Copy value={header.map(({ name, value }) => `${name}: ${value}\n`).join('')} />
			<dl class="facts wh-headers">
				{header.map(({ name, value }, n) => (
					<div key={n}>
						<dt>{name}</dt>
						<dd>
							<code>{value}</code>
						</dd>
					</div>
				))}
			</dl>
			{props.cut && <p class="hint">{t('webhooks.headers.cut')}</p>}
		</details>
	);
}
