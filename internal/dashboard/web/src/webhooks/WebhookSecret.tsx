import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../i18n';
import { Copy, CopyableText } from '../ui/Badge';
import { Segments } from '../ui/Segments';
import { snippets } from './snippets';

/** WebhookSecret shows a new secret. The API returns it only once. */
export function WebhookSecret(props: { value: string }): JSX.Element {
	return (
		<div class="wh-secret" role="status">
			<p>
				<strong>{t('webhooks.secret.once')}</strong>
			</p>
			<CopyableText value={props.value} />
			<p class="wh-keep">{t('webhooks.secret.keep')}</p>
		</div>
	);
}

/** VerifySnippet shows code that verifies a delivery's signature, in three languages. */
export function VerifySnippet(): JSX.Element {
	const [language, setLanguage] = useState(snippets[0]?.name ?? '');
	const code = snippets.find(({ name }) => name === language)?.code ?? '';
	return (
		<details class="wh-verify">
			<summary>{t('webhooks.verify')}</summary>
			<p>{t('webhooks.verify.how')}</p>
			<div class="actions">
				<Segments
					label={t('webhooks.verify.language')}
					value={language}
					options={snippets.map(({ name }) => [name, name] as const)}
					change={setLanguage}
				/>
				<Copy value={code} />
			</div>
			<pre>
				<code>{code}</code>
			</pre>
		</details>
	);
}
