import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../i18n';
import { Copy } from '../ui/Badge';
import { pretty } from './pretty';

/** Payload is JSON as it was sent: indented, or byte for byte. */
export function Payload(props: { raw: string }): JSX.Element {
	const [raw, setRaw] = useState(false);
	return (
		<div class="wh-payload">
			<div class="actions">
				<button type="button" class="small" aria-pressed={!raw} onClick={() => setRaw(false)}>
					{t('webhooks.payload.pretty')}
				</button>
				<button type="button" class="small" aria-pressed={raw} onClick={() => setRaw(true)}>
					{t('webhooks.payload.raw')}
				</button>
				<Copy value={props.raw} name={t('webhooks.payload.copy')} />
			</div>
			{/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
			<pre tabIndex={0}>
				<code>{raw ? props.raw : pretty(props.raw)}</code>
			</pre>
		</div>
	);
}
