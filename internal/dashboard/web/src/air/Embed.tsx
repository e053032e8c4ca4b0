import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { cityName, language, t } from '../i18n';
import { Copy } from '../ui/Badge';
import { Card } from '../ui/Page';
import { Segments } from '../ui/Segments';
import { addresses, snippets, useEdge } from './embed';

const forms = { widget: 'air.embed.widget', html: 'air.embed.html', markdown: 'air.embed.markdown' } as const;

/** Embed has the code that shows a city on another page. It shows nothing if the service has no public edge. */
export function Embed(props: { city: string }): JSX.Element | null {
	const edge = useEdge(props.city).data;
	const [form, setForm] = useState<keyof typeof forms>('widget');
	if (!edge) {
		return null;
	}
	const name = t('air.embed.alt', { city: cityName(edge.city) });
	const code = snippets(location.origin, edge.city, language.value, name, cityName(edge.city)).find(({ id }) => id === form)?.code ?? '';
	return (
		<Card title={t('air.embed')}>
			<p>{t('air.embed.about')}</p>
			{edge.simulated && <p class="note">{t('air.embed.simulated')}</p>}
			<div class="actions">
				<Segments
					label={t('air.embed.form')}
					value={form}
					options={(['widget', 'html', 'markdown'] as const).map((id) => [id, t(forms[id])] as const)}
					change={setForm}
				/>
				<Copy value={code} />
			</div>
			<pre>
				<code>{code}</code>
			</pre>
			<p>
				<img src={addresses('', edge.city).badge} alt={name} height={20} />
			</p>
		</Card>
	);
}
