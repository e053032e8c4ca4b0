import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { api, type Schemas, unwrap } from '../api/client';
import { invalidate } from '../api/queries';
import { t } from '../i18n';
import { Field, FormError, useSubmission } from '../ui/Form';
import { Card, Page } from '../ui/Page';
import { EventTypePicker } from './EventTypePicker';
import type { EventType } from './eventTypes';
import { SendTest } from './SendTestEvent';
import { VerifySnippet, WebhookSecret } from './WebhookSecret';
import './webhooks.css';

type Made = Schemas['WebhookShown'];

/** NewWebhook makes an endpoint, and then shows its secret and sends it a test event. */
export function NewWebhook(): JSX.Element {
	const [made, setMade] = useState<Made>();
	return made ? <Done webhook={made} /> : <Make done={setMade} />;
}

function Make(props: { done: (made: Made) => void }): JSX.Element {
	const [url, setUrl] = useState('');
	const [chosen, setChosen] = useState<ReadonlySet<EventType>>(new Set());
	const [own, setOwn] = useState(false);
	const [secret, setSecret] = useState('');
	// The same key until it has succeeded: a reply that is lost does not make a second webhook.
	const [once] = useState(() => crypto.randomUUID());
	const submission = useSubmission(async () => {
		const body = { url, events: [...chosen], ...(own ? { secret } : {}) };
		const key = `${once}-${digest(JSON.stringify(body))}`;
		props.done(await unwrap(api.POST('/v1/webhooks', { params: { header: { 'Idempotency-Key': key } }, body })));
		invalidate('webhooks');
	});
	return (
		<Page title={t('webhooks.new')} actions={<Link href="/webhooks">{t('webhooks.back')}</Link>}>
			<form onSubmit={submission.submit} noValidate>
				<Card>
					<Field
						label={t('webhooks.url')}
						hint={t('webhooks.url.hint')}
						type="url"
						required
						autocomplete="off"
						spellcheck={false}
						maxLength={2048}
						placeholder="https://shop.example.com/vayu"
						value={url}
						onInput={(event) => setUrl(event.currentTarget.value)}
						problem={submission.of('url')}
					/>
				</Card>
				<Card>
					<EventTypePicker chosen={chosen} change={setChosen} problem={submission.of('events')} />
				</Card>
				<Card>
					<fieldset class="wh-choose">
						<legend>{t('webhooks.secret')}</legend>
						<label>
							<input type="radio" name="secret" checked={!own} onChange={() => setOwn(false)} />
							<span>
								{t('webhooks.secret.made')}
								<span class="hint">{t('webhooks.secret.made.hint')}</span>
							</span>
						</label>
						<label>
							<input type="radio" name="secret" checked={own} onChange={() => setOwn(true)} />
							<span>
								{t('webhooks.secret.own')}
								<span class="hint">{t('webhooks.secret.own.hint')}</span>
							</span>
						</label>
						{own && (
							<Field
								label={t('webhooks.secret.value')}
								type="text"
								autocomplete="off"
								spellcheck={false}
								maxLength={255}
								value={secret}
								onInput={(event) => setSecret(event.currentTarget.value)}
								problem={submission.of('secret')}
							/>
						)}
					</fieldset>
				</Card>
				<FormError submission={submission} fields={['url', 'events', 'secret']} />
				<button type="submit" class="primary" disabled={submission.busy}>
					{t('webhooks.save')}
				</button>
			</form>
		</Page>
	);
}

/** digest names a body, so that a body that was mended is another request. */
function digest(text: string): string {
	let sum = 0;
	for (const character of text) {
		sum = (Math.imul(sum, 31) + (character.codePointAt(0) ?? 0)) | 0;
	}
	return (sum >>> 0).toString(36);
}

function Done(props: { webhook: Made }): JSX.Element {
	const { webhook } = props;
	return (
		<Page title={t('webhooks.made')} actions={<Link href={`/webhooks/${webhook.id}`}>{t('webhooks.made.open')}</Link>}>
			<Card>
				<p class="wh-url">{webhook.url}</p>
				{webhook.secret ? <WebhookSecret value={webhook.secret} /> : <p>{t('webhooks.secret.yours', { last: webhook.secret_last4 })}</p>}
				<VerifySnippet />
			</Card>
			<Card title={t('webhooks.test')}>
				<p>{t('webhooks.test.about')}</p>
				<SendTest id={webhook.id} events={webhook.events} />
			</Card>
		</Page>
	);
}
