import type { ComponentChildren, JSX } from 'preact';
import type { Schemas } from '../api/client';
import { number } from '../format';
import { locale, t } from '../i18n';
import { Badge, Copy, Time } from '../ui/Badge';
import { attemptError } from './attemptError';
import { attemptGroups } from './attemptGroups';
import { Due, deliveryStage, milliseconds } from './DeliveryBadge';
import { delays, mostAttempts, span } from './eventTypes';

/** Attempts shows the attempts of a delivery, the newest first, below the schedule of the remaining ones. */
export function Attempts(props: { delivery: Schemas['DeliveryDetailed']; paused: boolean }): JSX.Element {
	const { delivery, paused } = props;
	return (
		<ol class="wh-attempts">
			{delivery.state === 'waiting' && delivery.attempts.length < mostAttempts && <Coming of={delivery} paused={paused} />}
			{attemptGroups(delivery.attempts).map(({ newest, same }) => (
				<Made key={newest.attempt} attempt={newest}>
					{same.length > 0 && (
						<details class="wh-same">
							<summary>
								{t(same.length === 1 ? 'webhooks.attempts.same.one' : 'webhooks.attempts.same', { count: number(same.length) })}
							</summary>
							<ol class="wh-attempts">
								{same.map((attempt) => (
									<Made key={attempt.attempt} attempt={attempt} />
								))}
							</ol>
						</details>
					)}
				</Made>
			))}
		</ol>
	);
}

/** Coming shows when the next attempt is due, and how long after it the others follow. */
function Coming(props: { of: Schemas['DeliveryDetailed']; paused: boolean }): JSX.Element {
	const { attempts, next_attempt_at: next } = props.of;
	const later = delays.slice(attempts.length + 1);
	return (
		<li class="coming">
			<p class="wh-line">
				<strong>{t('webhooks.attempt', { n: attempts.length + 1 })}</strong>
				<Due at={next} paused={props.paused} />
				{next && !props.paused && <Time at={next} exact />}
			</p>
			{later.length > 0 && (
				<details class="wh-same">
					<summary>{t('webhooks.attempts.later', { count: number(later.length) })}</summary>
					<ol class="wh-attempts">
						{later.map((delay, index) => (
							<li key={delay} class="coming">
								<p class="wh-line">
									<strong>{t('webhooks.attempt', { n: attempts.length + index + 2 })}</strong>
									<span class="hint">{t('webhooks.attempt.after', { time: span(delay, locale.value) })}</span>
								</p>
							</li>
						))}
					</ol>
				</details>
			)}
		</li>
	);
}

function Made(props: { attempt: Schemas['Attempt']; children?: ComponentChildren }): JSX.Element {
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
					<span class="wrong">{attemptError(attempt)}</span>
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
			{props.children}
		</li>
	);
}

function Headers(props: { title: string; header: Schemas['Attempt']['request_headers']; cut?: boolean }): JSX.Element | null {
	const { header } = props;
	return header.length === 0 ? null : (
		<details>
			<summary>{props.title}</summary>
			<div class="wh-copy">
				<Copy value={header.map(({ name, value }) => `${name}: ${value}\n`).join('')} />
				{header.some(({ name }) => /^x-service-signature$/i.test(name)) && <span class="hint">{t('webhooks.header.name')}</span>}
			</div>
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
