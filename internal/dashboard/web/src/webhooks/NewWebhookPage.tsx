import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { api, type Schemas, unwrap } from '../api/client';
import { invalidate } from '../api/queries';
import { t } from '../i18n';
import { hasScope } from '../session';
import { Field, Radios } from '../ui/Field';
import { Form, type IdempotencyKey } from '../ui/Form';
import { Card, Page } from '../ui/Page';
import { useFilters } from '../ui/useFilters';
import { WebAddress } from '../ui/WebAddress';
import { EventTypePicker, requireEvents } from './EventTypePicker';
import { type EventType, offeredTypes } from './eventTypes';
import { SendTest } from './SendTestEvent';
import { VerifySnippet, WebhookSecret } from './WebhookSecret';
import './webhooks.css';

type Made = Schemas['WebhookShown'];

/** NewWebhook creates a webhook. Afterwards it shows the secret and offers a test event. */
export function NewWebhook(): JSX.Element {
	const [made, setMade] = useState<Made>();
	return made ? <Done webhook={made} /> : <Make done={setMade} />;
}

function Make(props: { done: (made: Made) => void }): JSX.Element {
	const [url, setUrl] = useState('');
	const [{ type }] = useFilters(['type']);
	const [chosen, setChosen] = useState<ReadonlySet<EventType>>(
		() => new Set(offeredTypes(hasScope('sources:read')).filter((one) => one === type)),
	);
	const [source, setSource] = useState<'made' | 'own'>('made');
	const [secret, setSecret] = useState('');
	const save = async (idempotencyKey: IdempotencyKey) => {
		requireEvents(chosen);
		const body = { url, events: [...chosen], ...(source === 'own' ? { secret } : {}) };
		props.done(await unwrap(api.POST('/v1/webhooks', { params: { header: { 'Idempotency-Key': idempotencyKey(body) } }, body })));
		invalidate('webhooks');
	};
	const option = (name: 'made' | 'own') => (
		<>
			{t(`webhooks.secret.${name}`)}
			<span class="hint">{t(`webhooks.secret.${name}.hint`)}</span>
		</>
	);
	return (
		<Page title={t('webhooks.new')} actions={<Link href="/webhooks">{t('webhooks.back')}</Link>}>
			<Form submit={save} button={t('webhooks.save')} tone="primary">
				<Card>
					<Field
						label={t('webhooks.url')}
						hint={t('webhooks.url.hint')}
						name="url"
						inputMode="url"
						maxLength={2048}
						placeholder="https://shop.example.com/vayu"
						value={url}
						change={setUrl}
					/>
				</Card>
				<Card>
					<EventTypePicker chosen={chosen} change={setChosen} />
				</Card>
				<Card class="wh-own-secret">
					<Radios
						label={t('webhooks.secret')}
						value={source}
						options={[
							['made', option('made')],
							['own', option('own')],
						]}
						change={setSource}
					/>
					{source === 'own' && <Field label={t('webhooks.secret.value')} name="secret" maxLength={255} value={secret} change={setSecret} />}
				</Card>
			</Form>
		</Page>
	);
}

function Done(props: { webhook: Made }): JSX.Element {
	const { webhook } = props;
	return (
		<Page title={t('webhooks.made')} actions={<Link href={`/webhooks/${webhook.id}`}>{t('webhooks.made.open')}</Link>}>
			<Card>
				<h2 class="card-head">
					<WebAddress of={webhook.url} />
				</h2>
				{webhook.secret ? <WebhookSecret value={webhook.secret} /> : <p>{t('webhooks.secret.yours', { last: webhook.secret_last4 })}</p>}
				<VerifySnippet />
			</Card>
			<Card title={t('webhooks.test')}>
				<p class="hint">{t('webhooks.test.about')}</p>
				<SendTest id={webhook.id} events={webhook.events} />
			</Card>
		</Page>
	);
}
