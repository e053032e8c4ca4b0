import { useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { api, ok } from '../api/client';
import { queries } from '../api/queries';
import { t } from '../i18n';
import { Field, Refused, useSubmission } from '../ui/form';
import { Card, Facts, Page } from '../ui/page';
import { Time } from '../ui/parts';
import { Empty, Fetched } from '../ui/states';
import type { Webhook as Endpoint } from './calls';
import { Choose } from './choose';
import { Remove, Rotate } from './dialogs';
import { type Seen, useDeliveries } from './follow';
import { HealthLine } from './health';
import type { EventType } from './kinds';
import { Types } from './list';
import { Verify } from './secret';
import { DeliveryTable } from './table';
import { SendTest } from './test';
import { ActiveBadge } from './words';
import './webhooks.css';

/** Webhook is one endpoint: what it is, what can be done with it, its deliveries. */
export function Webhook(props: { id?: string }): JSX.Element {
	const id = props.id ?? '';
	const query = useQuery({
		queryKey: ['webhooks', 'one', id],
		queryFn: ({ signal }) => ok(api.GET('/v1/webhooks/{id}', { params: { path: { id } }, signal })),
	});
	return (
		<Page title={t('webhooks.one')} actions={<Link href="/webhooks">{t('webhooks.back')}</Link>}>
			<Fetched query={query}>{(webhook) => <One webhook={webhook} />}</Fetched>
			<Card title={t('webhooks.deliveries')} actions={<Link href={`/deliveries?webhook=${id}`}>{t('webhooks.deliveries.filter')}</Link>}>
				<Recent webhook={id} />
			</Card>
		</Page>
	);
}

function One(props: { webhook: Endpoint }): JSX.Element {
	const { webhook } = props;
	const [open, setOpen] = useState<'edit' | 'rotate' | 'remove'>();
	const pause = useSubmission(async () => {
		await ok(api.PATCH('/v1/webhooks/{id}', { params: { path: { id: webhook.id } }, body: { active: !webhook.active } }));
		await Promise.all([
			queries.invalidateQueries({ queryKey: ['webhooks'] }),
			queries.invalidateQueries({ queryKey: ['health', webhook.id] }),
		]);
	});
	const close = () => setOpen(undefined);
	return (
		<>
			<Card>
				<header class="card-head">
					<h2 class="wh-url">{webhook.url}</h2>
					<ActiveBadge active={webhook.active} />
				</header>
				<HealthLine id={webhook.id} />
				<Facts
					of={[
						[t('webhooks.id'), <code key="id">{webhook.id}</code>],
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
				<form class="actions wh-do" onSubmit={pause.submit}>
					<button type="submit" disabled={pause.busy}>
						{t(webhook.active ? 'webhooks.pause' : 'webhooks.resume')}
					</button>
					<button type="button" aria-expanded={open === 'edit'} onClick={() => setOpen(open === 'edit' ? undefined : 'edit')}>
						{t('action.edit')}
					</button>
					<button type="button" onClick={() => setOpen('rotate')}>
						{t('webhooks.rotate')}
					</button>
					<button type="button" class="danger" onClick={() => setOpen('remove')}>
						{t('action.delete')}
					</button>
				</form>
				<Refused submission={pause} />
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
				<Verify />
			</Card>
			<Card title={t('webhooks.test')}>
				<p class="hint">{t('webhooks.test.about')}</p>
				<SendTest id={webhook.id} events={webhook.events} />
			</Card>
			{open === 'rotate' && <Rotate webhook={webhook} close={close} />}
			{open === 'remove' && <Remove webhook={webhook} close={close} />}
		</>
	);
}

function Edit(props: { webhook: Endpoint; done: () => void }): JSX.Element {
	const { webhook } = props;
	const [url, setUrl] = useState(webhook.url);
	const [chosen, setChosen] = useState<ReadonlySet<EventType>>(new Set(webhook.events));
	const submission = useSubmission(async () => {
		const events = [...chosen];
		await ok(api.PATCH('/v1/webhooks/{id}', { params: { path: { id: webhook.id } }, body: { url, events } }));
		await queries.invalidateQueries({ queryKey: ['webhooks'] });
		props.done();
	});
	return (
		<form class="wh-edit" onSubmit={submission.submit} noValidate>
			<Field
				label={t('webhooks.url')}
				hint={t('webhooks.url.change')}
				type="url"
				autocomplete="off"
				spellcheck={false}
				value={url}
				onInput={(event) => setUrl(event.currentTarget.value)}
				problem={submission.of('url')}
			/>
			<Choose chosen={chosen} change={setChosen} problem={submission.of('events')} />
			<Refused submission={submission} fields={['url', 'events']} />
			<div class="actions">
				<button type="submit" class="primary" disabled={submission.busy}>
					{t('action.save')}
				</button>
				<button type="button" onClick={props.done}>
					{t('action.cancel')}
				</button>
			</div>
		</form>
	);
}

function Recent(props: { webhook: string }): JSX.Element {
	const seen = useRef<Seen>({ first: 0, last: 20 });
	const list = useDeliveries({ webhook: props.webhook }, true, seen);
	return <DeliveryTable list={list} seen={seen} names={undefined} empty={<Empty title={t('webhooks.deliveries.none.here')} />} />;
}
