import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../i18n';
import { pretty } from './pretty';

/** Payload is JSON as it was sent: indented, or byte for byte. */
export function Payload(props: { raw: string }): JSX.Element {
	const [raw, setRaw] = useState(false);
	const [copied, setCopied] = useState(false);
	const copy = async () => {
		await navigator.clipboard.writeText(props.raw);
		setCopied(true);
		setTimeout(() => setCopied(false), 1500);
	};
	return (
		<div class="wh-payload">
			<div class="actions">
				<button type="button" class="small" aria-pressed={!raw} onClick={() => setRaw(false)}>
					{t('webhooks.payload.pretty')}
				</button>
				<button type="button" class="small" aria-pressed={raw} onClick={() => setRaw(true)}>
					{t('webhooks.payload.raw')}
				</button>
				<button type="button" class="small" onClick={copy}>
					{copied ? t('action.copied') : t('webhooks.payload.copy')}
				</button>
				<span class="unseen" role="status">
					{copied ? t('action.copied') : ''}
				</span>
			</div>
			{/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
			<pre tabIndex={0}>
				<code>{raw ? props.raw : pretty(props.raw)}</code>
			</pre>
		</div>
	);
}
