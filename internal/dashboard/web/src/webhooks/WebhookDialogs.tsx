import { useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { api, unwrap } from '../api/client';
import { invalidate, queries } from '../api/queries';
import { number } from '../format';
import { t } from '../i18n';
import { Time } from '../ui/Badge';
import { Dialog } from '../ui/Dialog';
import { FormError, Select, useSubmission } from '../ui/Form';
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
	const [grace, setGrace] = useState('86400');
	const [made, setMade] = useState<{ secret: string; until: string | null }>();
	// A lost reply is asked for again with the same key; a second rotation would end the secret just made.
	const [once] = useState(() => crypto.randomUUID());
	const submission = useSubmission(async () => {
		const reply = await unwrap(
			api.POST('/v1/webhooks/{id}/rotate-secret', {
				params: { path: { id }, header: { 'Idempotency-Key': `${once}-${grace}` } },
				body: { grace_seconds: Number(grace) },
			}),
		);
		setMade({ secret: reply.secret ?? '', until: reply.previous_secret_until });
		invalidate('webhooks');
	});
	return (
		<Dialog title={t('webhooks.rotate')} close={props.close}>
			{made ? (
				<>
					<WebhookSecret value={made.secret} />
					<p>
						{made.until ? t('webhooks.rotate.until') : t('webhooks.rotate.ended')} {made.until && <Time at={made.until} />}
					</p>
				</>
			) : (
				<form onSubmit={submission.submit}>
					<p>{t('webhooks.rotate.about')}</p>
					<Select
						label={t('webhooks.grace')}
						value={grace}
						options={graces.map(([value, name]) => [value, t(name)] as const)}
						onChange={setGrace}
					/>
					<FormError submission={submission} />
					<button type="submit" class="primary" disabled={submission.busy}>
						{t('webhooks.rotate')}
					</button>
				</form>
			)}
		</Dialog>
	);
}

/** DeleteWebhookDialog deletes a webhook, after it has said what becomes of what waits. */
export function DeleteWebhookDialog(props: { webhook: Webhook; close: () => void }): JSX.Element {
	const { id, url } = props.webhook;
	const [, go] = useLocation();
	const health = useQuery({
		queryKey: ['health', id],
		queryFn: ({ signal }) => unwrap(api.GET('/v1/webhooks/{id}/health', { params: { path: { id } }, signal })),
	});
	const submission = useSubmission(async () => {
		await unwrap(api.DELETE('/v1/webhooks/{id}', { params: { path: { id } } }));
		go('/webhooks');
		queries.removeQueries({ queryKey: ['webhooks', 'one', id] });
		queries.removeQueries({ queryKey: ['health', id] });
		invalidate('webhooks');
	});
	const waiting = health.data?.states.waiting;
	return (
		<Dialog title={t('webhooks.remove')} close={props.close}>
			<form onSubmit={submission.submit}>
				<p class="wh-url">
					<strong>{url}</strong>
				</p>
				<p>{t('webhooks.remove.about')}</p>
				<p role="status">
					{waiting === undefined
						? t('state.loading')
						: t(health.data?.has_more ? 'webhooks.remove.newest' : 'webhooks.remove.waiting', { count: number(waiting) })}
				</p>
				<FormError submission={submission} />
				<div class="actions">
					<button type="submit" class="danger" disabled={submission.busy}>
						{t('webhooks.remove')}
					</button>
					<button type="button" onClick={props.close}>
						{t('action.cancel')}
					</button>
				</div>
			</form>
		</Dialog>
	);
}
