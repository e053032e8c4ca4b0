import type { JSX } from 'preact';
import { number } from '../../format';
import { t } from '../../i18n';
import { Check } from '../../ui/Field';
import { Card } from '../../ui/Page';
import { Table } from '../../ui/Table';
import type { Kind } from './kind';
import type { Read, RecordFault, Row } from './records';

const columns: Record<Kind, readonly string[]> = {
	recharge: ['mobile', 'subscriber_id', 'operator', 'amount', 'type', 'ref_id'],
	verification: ['account_number', 'ifsc', 'vpa', 'name', 'name_match_tolerance', 'ref_id'],
};

/** shown is the maximum number of records, and of faults, in the preview. All are counted. */
const shown = { records: 10, troubles: 50 };

/** Preview shows the records of a batch and their faults before the batch is sent. */
export function Preview(props: { kind: Kind; found: Read; leave: boolean; setLeave: (leave: boolean) => void }): JSX.Element {
	const { kind, found } = props;
	if (found.whole) {
		return (
			<p class="wrong" role="alert">
				{t(found.whole)}
			</p>
		);
	}
	const present = columns[kind].filter((name) => found.records.some((record) => record[name] !== undefined));
	const rows = found.records.slice(0, shown.records).map((record, index) => ({ record, row: index + 1 }));
	return (
		<>
			<Card title={t('batch.preview', { count: number(found.records.length) })}>
				<Table<{ record: Row; row: number }>
					caption={t('batch.preview.caption')}
					rows={rows}
					id={({ row }) => String(row)}
					columns={[
						{ name: t('batch.row'), figure: true, show: ({ row }) => number(row) },
						...present.map((name) => ({
							name,
							figure: name === 'amount',
							show: ({ record }: { record: Row }) => <bdi class="foreign">{record[name] === undefined ? '–' : String(record[name])}</bdi>,
						})),
					]}
				/>
				{found.records.length > shown.records && <p class="hint">{t('batch.preview.first', { count: number(shown.records) })}</p>}
			</Card>
			{found.troubles.length > 0 && (
				<Card title={t('batch.troubles', { count: number(found.troubles.length) })}>
					<Table<RecordFault>
						caption={t('batch.troubles.caption')}
						rows={found.troubles.slice(0, shown.troubles)}
						id={({ row }) => String(row)}
						columns={[
							{ name: t('batch.row'), figure: true, show: ({ row }) => number(row) },
							{ name: t('batch.trouble'), show: ({ says }) => <span class="words">{t(says)}</span> },
							{ name: t('batch.trouble.value'), show: ({ value }) => <bdi class="foreign">{value.slice(0, 80)}</bdi> },
						]}
					/>
					{found.troubles.length > shown.troubles && <p class="hint">{t('batch.preview.first', { count: number(shown.troubles) })}</p>}
					<Check checked={props.leave} change={props.setLeave}>
						{t('batch.leave')}
					</Check>
				</Card>
			)}
		</>
	);
}
