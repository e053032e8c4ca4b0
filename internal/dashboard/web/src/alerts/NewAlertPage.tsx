import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Link, useLocation, useSearchParams } from 'wouter-preact';
import { api, unwrap } from '../api/client';
import { invalidate } from '../api/queries';
import { language, t } from '../i18n';
import { Form, type IdempotencyKey } from '../ui/Form';
import { Page } from '../ui/Page';
import { AlertFields } from './AlertFields';
import { bodyOf, newDraft } from './draft';
import { RequireAlerts } from './RequireAlerts';

/** NewAlert creates an alert, and opens its page. The parameter city, pincode or station of the address fills in the place. */
export function NewAlert(): JSX.Element {
	return (
		<Page title={t('alerts.new')} actions={<Link href="/alerts">{t('alerts.back')}</Link>}>
			<RequireAlerts>
				<Make />
			</RequireAlerts>
		</Page>
	);
}

function Make(): JSX.Element {
	const [search] = useSearchParams();
	const [, go] = useLocation();
	const [draft, setDraft] = useState(() => newDraft(Object.fromEntries(search), language.value));
	const [spoken, setSpoken] = useState(language.value);
	useEffect(() => {
		// Another language of the page is that of the events, unless a person has chosen theirs.
		setDraft((old) => (old.language === spoken ? { ...old, language: language.value } : old));
		setSpoken(language.value);
	}, [language.value]);
	const save = async (idempotencyKey: IdempotencyKey) => {
		const body = bodyOf(draft);
		const params = { header: { 'Idempotency-Key': idempotencyKey(body) } };
		const made = await unwrap(api.POST('/v1/alerts', { params, body }));
		invalidate('alerts');
		go(`/alerts/${made.id}`);
	};
	return (
		<Form class="alerts-form flow" submit={save} button={t('alerts.save')} tone="primary">
			<AlertFields draft={draft} change={(changed) => setDraft((old) => ({ ...old, ...changed }))} />
		</Form>
	);
}
