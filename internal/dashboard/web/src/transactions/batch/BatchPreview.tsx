import type { JSX } from 'preact';
import { number } from '../../format';
import { t } from '../../i18n';
import { Check } from '../../ui/Field';
import { Card } from '../../ui/Page';
import { type Column, Table } from '../../ui/Table';
import { Counts, Shares } from './BatchProgress';
import type { Kind } from './kind';
import type { Read, RecordFault, Row } from './records';

const columns: Record<Kind, readonly string[]> = {
	recharge: ['mobile', 'subscriber_id', 'operator', 'amount', 'type', 'ref_id'],
	verification: ['account_number', 'ifsc', 'vpa', 'name', 'name_match_tolerance', 'ref_id'],
};

/** shown is the maximum number of records, and of faults, in the preview. All are counted. */
const shown = { records: 10, troubles: 50 };

/** Numbered is a record with its number in the text, and its fault if it has one. */
interface Numbered {
	record: Row;
	row: number;
	fault?: RecordFault;
}

/** Preview shows the records of a batch before it is sent: those with faults first, beside what is wrong with them. */
export function Preview(props: { kind: Kind; found: Read; leave: boolean; setLeave: (leave: boolean) => void }): JSX.Element {
	const { kind, found } = props;
	const present = columns[kind].filter((name) => found.records.some((record) => record[name] !== undefined));
	const bad = new Set(found.troubles.map(({ row }) => row));
	const fine = found.records.map((record, index): Numbered => ({ record, row: index + 1 })).filter(({ row }) => !bad.has(row));
	const faulty = found.troubles
		.slice(0, shown.troubles)
		.map((fault): Numbered => ({ record: found.records[fault.row - 1] ?? {}, row: fault.row, fault }));
	const parts = [
		{ name: t('batch.part.ready'), tone: 'good', count: fine.length },
		{ name: t('batch.part.trouble'), tone: 'bad', count: bad.size },
	] as const;
	const row: Column<Numbered> = { name: t('batch.row'), figure: true, phone: 'labelled', show: ({ row }) => number(row) };
	const values = present.map(
		(name): Column<Numbered> => ({
			name,
			figure: name === 'amount',
			heading: name === present[0],
			phone: 'labelled',
			show: ({ record, fault }) => (record[name] === undefined ? '–' : <Value of={record[name]} fault={fault} />),
		}),
	);
	return (
		<>
			<Card title={t('batch.checked')} class="progress">
				<Counts of={parts} />
				<Shares of={parts} />
			</Card>
			{faulty.length > 0 && (
				<Card title={t('batch.troubles', { count: number(found.troubles.length) })} class="faulty">
					<Table<Numbered>
						compact
						caption={t('batch.troubles.caption')}
						rows={faulty}
						id={({ row }) => String(row)}
						columns={[
							row,
							{ name: t('batch.trouble'), phone: 'line', show: ({ record, fault }) => fault && <Fault of={fault} record={record} /> },
							...values,
						]}
					/>
					{found.troubles.length > shown.troubles && <p class="hint">{t('batch.preview.first', { count: number(shown.troubles) })}</p>}
					<Check checked={props.leave} change={props.setLeave}>
						{t('batch.leave')}
					</Check>
				</Card>
			)}
			{fine.length > 0 && (
				<Card title={t('batch.preview', { count: number(fine.length) })}>
					<Table<Numbered>
						compact
						caption={t('batch.preview.caption')}
						rows={fine.slice(0, shown.records)}
						id={({ row }) => String(row)}
						columns={[row, ...values]}
					/>
					{fine.length > shown.records && <p class="hint">{t('batch.preview.first', { count: number(shown.records) })}</p>}
				</Card>
			)}
		</>
	);
}

/** Value is a value of a record. The value that has the fault is marked. */
function Value(props: { of: unknown; fault: RecordFault | undefined }): JSX.Element {
	const { of, fault } = props;
	const text = <bdi class="foreign">{String(of)}</bdi>;
	return fault && fault.value !== '' && String(of) === fault.value ? <mark>{text}</mark> : text;
}

/** Fault says what is wrong with a record. It has the wrong value if no column of the record shows it. */
function Fault(props: { of: RecordFault; record: Row }): JSX.Element {
	const { says, value } = props.of;
	const among = Object.values(props.record).some((one) => typeof one !== 'object' && String(one) === value);
	return (
		<span class="words">
			{t(says)}
			{value !== '' && !among && (
				<>
					{' '}
					<bdi class="foreign">{value.slice(0, 80)}</bdi>
				</>
			)}
		</span>
	);
}
