import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../i18n';
import { Copy, Copyable } from '../ui/parts';
import { snippets } from './snippets';

/** Secret shows a secret that was made, this once. */
export function Secret(props: { value: string }): JSX.Element {
	return (
		<div class="wh-secret" role="status">
			<p>
				<strong>{t('webhooks.secret.once')}</strong>
			</p>
			<Copyable value={props.value} />
			<p class="wh-keep">{t('webhooks.secret.keep')}</p>
		</div>
	);
}

/** Verify shows how a receiver knows that a delivery is genuine, in three languages. */
export function Verify(): JSX.Element {
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
