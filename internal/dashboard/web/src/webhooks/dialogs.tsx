import { useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { api, ok } from '../api/client';
import { outdated, queries } from '../api/queries';
import { number } from '../format';
import { t } from '../i18n';
import { Dialog } from '../ui/dialog';
import { Refused, Select, useSubmission } from '../ui/form';
import { Time } from '../ui/parts';
import type { Webhook } from './calls';
import { Secret } from './secret';

const graces = [
	['0', 'webhooks.grace.now'],
	['3600', 'webhooks.grace.hour'],
	['86400', 'webhooks.grace.day'],
	['604800', 'webhooks.grace.week'],
] as const;

/** Rotate replaces the secret, and shows the new one once. */
export function Rotate(props: { webhook: Webhook; close: () => void }): JSX.Element {
	const { id } = props.webhook;
	const [grace, setGrace] = useState('86400');
	const [made, setMade] = useState<{ secret: string; until: string | null }>();
	// A lost reply is asked for again with the same key; a second rotation would end the secret just made.
	const [once] = useState(() => crypto.randomUUID());
	const submission = useSubmission(async () => {
		const reply = await ok(
			api.POST('/v1/webhooks/{id}/rotate-secret', {
				params: { path: { id }, header: { 'Idempotency-Key': `${once}-${grace}` } },
				body: { grace_seconds: Number(grace) },
			}),
		);
		setMade({ secret: reply.secret ?? '', until: reply.previous_secret_until });
		outdated('webhooks');
	});
	return (
		<Dialog title={t('webhooks.rotate')} close={props.close}>
			{made ? (
				<>
					<Secret value={made.secret} />
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
					<Refused submission={submission} />
					<button type="submit" class="primary" disabled={submission.busy}>
						{t('webhooks.rotate')}
					</button>
				</form>
			)}
		</Dialog>
	);
}

/** Remove deletes a webhook, after it has said what becomes of what waits. */
export function Remove(props: { webhook: Webhook; close: () => void }): JSX.Element {
	const { id, url } = props.webhook;
	const [, go] = useLocation();
	const health = useQuery({
		queryKey: ['health', id],
		queryFn: ({ signal }) => ok(api.GET('/v1/webhooks/{id}/health', { params: { path: { id } }, signal })),
	});
	const submission = useSubmission(async () => {
		await ok(api.DELETE('/v1/webhooks/{id}', { params: { path: { id } } }));
		go('/webhooks');
		queries.removeQueries({ queryKey: ['webhooks', 'one', id] });
		queries.removeQueries({ queryKey: ['health', id] });
		outdated('webhooks');
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
				<Refused submission={submission} />
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
