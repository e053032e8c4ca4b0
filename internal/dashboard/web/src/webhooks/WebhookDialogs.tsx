import { useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { api, unwrap } from '../api/client';
import { invalidate, queries } from '../api/queries';
import { hour, number } from '../format';
import { t } from '../i18n';
import { Dialog } from '../ui/Dialog';
import { Select } from '../ui/Field';
import { Form, type IdempotencyKey } from '../ui/Form';
import { WebAddress } from '../ui/WebAddress';
import type { Webhook } from './queries';
import { WebhookSecret } from './WebhookSecret';

const graces = [
	['0', 'webhooks.grace.now'],
	['3600', 'webhooks.grace.hour'],
	['86400', 'webhooks.grace.day'],
	['604800', 'webhooks.grace.week'],
] as const;

/** RotateSecretDialog replaces the secret, and shows the new one once. */
export function RotateSecretDialog(props: { webhook: Webhook; close: () => void }): JSX.Element {
	const { id } = props.webhook;
	const [grace, setGrace] = useState<(typeof graces)[number][0]>('86400');
	const [made, setMade] = useState<{ secret: string; until: string | null }>();
	const rotate = async (idempotencyKey: IdempotencyKey) => {
		const body = { grace_seconds: Number(grace) };
		const params = { path: { id }, header: { 'Idempotency-Key': idempotencyKey(body) } };
		const reply = await unwrap(api.POST('/v1/webhooks/{id}/rotate-secret', { params, body }));
		setMade({ secret: reply.secret ?? '', until: reply.previous_secret_until });
		invalidate('webhooks');
	};
	return (
		<Dialog title={t(made ? 'webhooks.rotated' : 'webhooks.rotate')} close={props.close} {...(made && { kept: t('webhooks.secret.kept') })}>
			{made ? (
				<>
					<WebhookSecret value={made.secret} />
					<p>{made.until ? t('webhooks.rotate.until', { time: hour(made.until) }) : t('webhooks.rotate.ended')}</p>
					<div class="actions">
						<button type="button" class="primary" onClick={props.close}>
							{t('webhooks.rotate.done')}
						</button>
					</div>
				</>
			) : (
				<Form submit={rotate} button={t('webhooks.rotate')} tone="primary">
					<p>{t('webhooks.rotate.about')}</p>
					<Select
						label={t('webhooks.grace')}
						value={grace}
						options={graces.map(([value, name]) => [value, t(name)] as const)}
						change={setGrace}
					/>
				</Form>
			)}
		</Dialog>
	);
}

/** DeleteWebhookDialog deletes a webhook. It first shows how many deliveries are waiting. */
export function DeleteWebhookDialog(props: { webhook: Webhook; close: () => void }): JSX.Element {
	const { id, url } = props.webhook;
	const [, go] = useLocation();
	const health = useQuery({
		queryKey: ['health', id],
		queryFn: ({ signal }) => unwrap(api.GET('/v1/webhooks/{id}/health', { params: { path: { id } }, signal })),
	});
	const remove = async () => {
		await unwrap(api.DELETE('/v1/webhooks/{id}', { params: { path: { id } } }));
		go('/webhooks');
		queries.removeQueries({ queryKey: ['webhooks', 'one', id] });
		queries.removeQueries({ queryKey: ['health', id] });
		invalidate('webhooks');
	};
	const waiting = health.data?.states.waiting;
	return (
		<Dialog title={t('webhooks.remove')} close={props.close}>
			<Form submit={remove} button={t('webhooks.remove')} tone="danger" cancel={props.close}>
				<p>
					<strong>
						<WebAddress of={url} />
					</strong>
				</p>
				<p>{t('webhooks.remove.about')}</p>
				<p role="status">{waiting === undefined ? t('state.loading') : t('webhooks.remove.waiting', { count: number(waiting) })}</p>
			</Form>
		</Dialog>
	);
}
