import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { number } from '../format';
import { t } from '../i18n';
import { Form } from '../ui/Form';
import type { ListState } from '../ui/List';
import { saveFile } from '../ui/saveFile';
import { listed } from './batch/csv';
import type { Kind } from './batch/kind';

/** SaveList saves all pages of a list with its filters as a table for a spreadsheet. load fetches one page. */
export function SaveList<T extends object>(props: {
	kind: Kind;
	file: string;
	load: (cursor: string | undefined, signal: AbortSignal) => Promise<ListState<T>>;
}): JSX.Element {
	const [count, setCount] = useState<number>();
	const stop = useRef<AbortController>();
	useEffect(() => () => stop.current?.abort(), []);
	const save = async () => {
		stop.current = new AbortController();
		const rows: T[] = [];
		try {
			let cursor: string | undefined;
			do {
				const page = await props.load(cursor, stop.current.signal);
				rows.push(...page.data);
				setCount(rows.length);
				cursor = page.next_cursor ?? undefined;
			} while (cursor);
			saveFile(new Blob([listed(props.kind, rows)], { type: 'text/csv' }), props.file);
		} finally {
			setCount(undefined);
		}
	};
	return (
		<Form submit={save} button={t('account.audit.save', { file: props.file })}>
			<span role="status">{count ? t('batch.download.so', { count: number(count) }) : ''}</span>
		</Form>
	);
}
