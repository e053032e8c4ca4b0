import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { api, unwrap } from '../api/client';
import { number } from '../format';
import { t } from '../i18n';
import { hasScope } from '../session';
import { Form, type IdempotencyKey } from '../ui/Form';

/** TestAlert sends a test event of an alert, and shows how many webhooks get it. */
export function TestAlert(props: { id: string }): JSX.Element {
	const { id } = props;
	const [sent, setSent] = useState<{ event_id: string; webhooks: number }>();
	const send = async (idempotencyKey: IdempotencyKey) => {
		const params = { path: { id }, header: { 'Idempotency-Key': idempotencyKey(id) } };
		setSent(await unwrap(api.POST('/v1/alerts/{id}/test', { params })));
	};
	return (
		<>
			<Form submit={send} button={t('alerts.test.send')} />
			<p role="status">
				{sent && (
					<>
						{sent.webhooks > 0 ? t('alerts.test.sent', { count: number(sent.webhooks) }) : t('alerts.test.none')}{' '}
						{hasScope('webhooks:manage') && <Link href={`/events/${sent.event_id}`}>{t('alerts.event')}</Link>}
					</>
				)}
			</p>
		</>
	);
}
