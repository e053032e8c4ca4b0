import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { number } from '../../format';
import { t } from '../../i18n';
import { saveFile } from '../../ui/saveFile';
import type { Kind } from './kind';
import { download } from './stream';

/** Downloads saves all results of a batch as a file. The browser builds the file from the API's stream. */
export function Downloads(props: { kind: Kind; id: string }): JSX.Element {
	const { kind, id } = props;
	const [says, setSays] = useState('');
	const [busy, setBusy] = useState(false);
	const stop = useRef<AbortController>();
	useEffect(() => () => stop.current?.abort(), []);
	const fetch = async (form: 'csv' | 'ndjson') => {
		const control = new AbortController();
		stop.current = control;
		setBusy(true);
		setSays(t('batch.download.begun'));
		let count = 0;
		try {
			const file = await download(kind, id, form, control.signal, (now) => {
				count = now;
				setSays(t('batch.download.so', { count: number(now) }));
			});
			saveFile(file, `${id}.${form}`);
			setSays(t('batch.download.done', { count: number(count) }));
		} catch {
			setSays(t('batch.download.broken'));
		} finally {
			setBusy(false);
		}
	};
	return (
		<div class="actions downloads">
			<button type="button" disabled={busy} onClick={() => void fetch('csv')}>
				{t('batch.download.csv')}
			</button>
			<button type="button" disabled={busy} onClick={() => void fetch('ndjson')}>
				{t('batch.download.ndjson')}
			</button>
			<span role="status">{says}</span>
		</div>
	);
}
