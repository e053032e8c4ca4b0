import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../i18n';
import { Copy, CopyableText } from '../ui/Badge';
import { snippets } from './snippets';

/** WebhookSecret shows a secret that was made, this once. */
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

/** VerifySnippet shows how a receiver knows that a delivery is genuine, in three languages. */
export function VerifySnippet(): JSX.Element {
	const [at, setAt] = useState(0);
	const code = snippets[at]?.code ?? '';
	return (
		<details class="wh-verify">
			<summary>{t('webhooks.verify')}</summary>
			<p>{t('webhooks.verify.how')}</p>
			<div class="actions">
				<fieldset class="wh-pick">
					<legend class="unseen">{t('webhooks.verify.language')}</legend>
					{snippets.map((snippet, index) => (
						<button key={snippet.name} type="button" class="small" aria-pressed={index === at} onClick={() => setAt(index)}>
							{snippet.name}
						</button>
					))}
				</fieldset>
				<Copy value={code} />
			</div>
			<pre>
				<code>{code}</code>
			</pre>
		</details>
	);
}
