import { useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { api, unwrap } from '../api/client';
import { queries } from '../api/queries';
import { t } from '../i18n';
import { CopyableText, Time } from '../ui/Badge';
import { Empty, Fetched } from '../ui/FetchState';
import { Field } from '../ui/Field';
import { Form } from '../ui/Form';
import { Card, Facts, Page } from '../ui/Page';
import { WebAddress } from '../ui/WebAddress';
import { DeliveryTable } from './DeliveryTable';
import { EventTypePicker, requireEvents } from './EventTypePicker';
import type { EventType } from './eventTypes';
import { HealthLine } from './HealthLine';
import type { Webhook as Endpoint } from './queries';
import { SendTest } from './SendTestEvent';
import { SignatureCheck } from './SignatureCheck';
import { type DeliveryView, useDeliveries } from './useDeliveries';
import { DeleteWebhookDialog, RotateSecretDialog } from './WebhookDialogs';
import { Types } from './WebhookList';
import { VerifySnippet } from './WebhookSecret';
import './webhooks.css';

/** recent is the number of deliveries that the page of a webhook shows. */
const recent = 10;

/** Webhook shows one webhook with its actions and its deliveries. */
export function Webhook(props: { id?: string }): JSX.Element {
	const id = props.id ?? '';
	const query = useQuery({
		queryKey: ['webhooks', 'one', id],
		queryFn: ({ signal }) => unwrap(api.GET('/v1/webhooks/{id}', { params: { path: { id } }, signal })),
	});
	return (
		<Page
			title={query.data?.url ?? t('webhooks.one')}
			heading={query.data && <WebAddress of={query.data.url} />}
			actions={
				<>
					<Link href={`/events?subject=${id}`}>{t('webhooks.alerts')}</Link>
					<Link href="/webhooks">{t('webhooks.back')}</Link>
				</>
			}
		>
			<Fetched query={query}>{(webhook) => <One webhook={webhook} />}</Fetched>
		</Page>
	);
}

function One(props: { webhook: Endpoint }): JSX.Element {
	const { webhook } = props;
	const [open, setOpen] = useState<'edit' | 'rotate' | 'remove'>();
	const pause = async () => {
		await unwrap(api.PATCH('/v1/webhooks/{id}', { params: { path: { id: webhook.id } }, body: { active: !webhook.active } }));
		await Promise.all([
			queries.invalidateQueries({ queryKey: ['webhooks'] }),
			queries.invalidateQueries({ queryKey: ['health', webhook.id] }),
		]);
	};
	const close = () => setOpen(undefined);
	return (
		<>
			<Card>
				<HealthLine id={webhook.id} lead />
				<Facts
					of={[
						[t('webhooks.id'), <CopyableText key="id" value={webhook.id} />],
						[t('webhooks.secret'), <code key="secret">…{webhook.secret_last4}</code>],
						[
							t('webhooks.secret.previous'),
							webhook.previous_secret_until ? <Time key="until" at={webhook.previous_secret_until} /> : undefined,
						],
						[t('webhooks.created'), <Time key="created" at={webhook.created_at} />],
						[t('webhooks.version'), webhook.api_version],
					]}
				/>
				<h3>{t('webhooks.events')}</h3>
				<Types of={webhook.events} />
				<div class="actions">
					<Form submit={pause} button={t(webhook.active ? 'webhooks.pause' : 'webhooks.resume')} />
					<button type="button" aria-expanded={open === 'edit'} onClick={() => setOpen(open === 'edit' ? undefined : 'edit')}>
						{t('action.edit')}
					</button>
					<button type="button" onClick={() => setOpen('rotate')}>
						{t('webhooks.rotate')}
					</button>
					<button type="button" class="danger" onClick={() => setOpen('remove')}>
						{t('action.delete')}
					</button>
				</div>
				{!webhook.active && (
					<p class="note" role="status">
						{t('webhooks.paused.note')}
					</p>
				)}
				{webhook.backlog && (
					<p class="note" role="status">
						{t('webhooks.backlog.note', { failed: webhook.backlog.failed, limit: webhook.backlog.limit })}{' '}
						<Time at={webhook.backlog.reached_at} />
					</p>
				)}
				{open === 'edit' && <Edit webhook={webhook} done={close} />}
			</Card>
			<Card
				title={t('webhooks.deliveries.last', { count: recent })}
				actions={<Link href={`/deliveries?webhook=${webhook.id}`}>{t('webhooks.deliveries.here')}</Link>}
			>
				<Recent webhook={webhook.id} />
			</Card>
			<Card title={t('webhooks.test')}>
				<p class="hint">{t('webhooks.test.about')}</p>
				<SendTest id={webhook.id} events={webhook.events} />
			</Card>
			<Card title={t('webhooks.signatures')}>
				<VerifySnippet />
				<SignatureCheck />
			</Card>
			{open === 'rotate' && <RotateSecretDialog webhook={webhook} close={close} />}
			{open === 'remove' && <DeleteWebhookDialog webhook={webhook} close={close} />}
		</>
	);
}

function Edit(props: { webhook: Endpoint; done: () => void }): JSX.Element {
	const { webhook } = props;
	const [url, setUrl] = useState(webhook.url);
	const [chosen, setChosen] = useState<ReadonlySet<EventType>>(new Set(webhook.events));
	const save = async () => {
		requireEvents(chosen);
		const events = [...chosen];
		await unwrap(api.PATCH('/v1/webhooks/{id}', { params: { path: { id: webhook.id } }, body: { url, events } }));
		await queries.invalidateQueries({ queryKey: ['webhooks'] });
		props.done();
	};
	return (
		<Form submit={save} button={t('action.save')} tone="primary" cancel={props.done}>
			<Field label={t('webhooks.url')} hint={t('webhooks.url.change')} name="url" inputMode="url" value={url} change={setUrl} />
			<EventTypePicker chosen={chosen} change={setChosen} />
		</Form>
	);
}

function Recent(props: { webhook: string }): JSX.Element {
	const seen = useRef<DeliveryView>({ first: 0, last: 20 });
	const list = useDeliveries({ webhook: props.webhook }, true, seen);
	return (
		<DeliveryTable list={list} seen={seen} names={undefined} most={recent} empty={<Empty title={t('webhooks.deliveries.none.here')} />} />
	);
}
