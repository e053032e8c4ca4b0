import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../i18n';
import { Copy } from '../ui/Badge';
import { Segments } from '../ui/Segments';
import { pretty } from './pretty';

/** Payload shows JSON indented, or byte for byte as it was sent. */
export function Payload(props: { raw: string }): JSX.Element {
	const [form, setForm] = useState<'pretty' | 'raw'>('pretty');
	return (
		<div class="wh-payload">
			<div class="actions">
				<Segments
					label={t('webhooks.payload')}
					value={form}
					options={[
						['pretty', t('webhooks.payload.pretty')],
						['raw', t('webhooks.payload.raw')],
					]}
					change={setForm}
				/>
				<Copy value={props.raw} name={t('webhooks.payload.copy')} />
			</div>
			{/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
			<pre tabIndex={0}>
				<code>{form === 'raw' ? props.raw : pretty(props.raw)}</code>
			</pre>
		</div>
	);
}
