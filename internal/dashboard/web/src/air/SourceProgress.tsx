import type { JSX } from 'preact';
import { number } from '../format';
import { t } from '../i18n';
import { Badge, Time, type Tone } from '../ui/Badge';
import { Card, Facts } from '../ui/Page';
import { Table } from '../ui/Table';
import { useMinute } from '../ui/useNow';
import type { SourceRow } from './coverage';

type Progress = NonNullable<SourceRow['progress']>;

/** SourceProgress shows how far a source is fetched, its partitions that are furthest behind, and its last backfill. */
export function SourceProgress(props: { of: Progress }): JSX.Element {
	const { watermark_at, partitions, partitions_failing, oldest_partitions, backfill } = props.of;
	return (
		<>
			<Card title={t('air.sources.progress')}>
				<Facts
					of={[
						[t('air.sources.watermark'), <Time key="watermark" at={watermark_at} />],
						...(partitions > 0 ? [partitionsFact(partitions, partitions_failing)] : []),
					]}
				/>
				{oldest_partitions.length > 0 && <Oldest of={oldest_partitions} />}
			</Card>
			{backfill && <Backfill of={backfill} />}
		</>
	);
}

function partitionsFact(count: number, failing: number): readonly [string, string] {
	return [t('air.sources.partitions'), t('air.sources.partitions.some', { count: number(count), failing: number(failing) })];
}

function Oldest(props: { of: Progress['oldest_partitions'] }): JSX.Element {
	return (
		<Table
			caption={t('air.sources.partitions.oldest')}
			rows={props.of}
			id={(row) => row.partition}
			columns={[
				{ name: t('air.sources.partition'), show: (row) => <code>{row.partition}</code> },
				{ name: t('air.sources.watermark'), show: (row) => <Time at={row.watermark_at} /> },
				{ name: t('air.sources.failures'), figure: true, show: (row) => number(row.failures) },
			]}
		/>
	);
}

const tones: Readonly<Record<string, Tone>> = { running: 'busy', done: 'good', failed: 'bad' };

/** silence is the age in milliseconds from which the last progress of a running backfill is too old. */
const silence = 3_600_000;

function Backfill(props: { of: NonNullable<Progress['backfill']> }): JSX.Element {
	const { of } = props;
	// The state comes from the last row that the command wrote. A command that was killed leaves the state at running.
	const now = useMinute();
	const halted = of.state === 'running' && now.getTime() - Date.parse(of.advanced_at) > silence;
	const part = t('air.sources.backfill.part', { percent: number(Math.floor(of.fraction * 100)) });
	return (
		<Card title={t('air.sources.backfill')}>
			<p class="backfill-part">
				{halted ? (
					<Badge tone="warn">{t('air.sources.backfill.halted')}</Badge>
				) : (
					<Badge tone={tones[of.state] ?? 'quiet'}>{t(`air.sources.backfill.${of.state}`)}</Badge>
				)}{' '}
				<progress max={1} value={of.fraction} aria-label={part} /> <span>{part}</span>
			</p>
			{halted && <p>{t('air.sources.backfill.halted.hint')}</p>}
			<Facts
				of={[
					[t('air.sources.backfill.range'), <Range key="range" from={of.from} to={of.to} />],
					[
						t('air.sources.partitions'),
						t('air.sources.backfill.complete', { complete: number(of.partitions_complete), all: number(of.partitions) }),
					],
					[t('air.sources.stored.backfill'), number(of.stored)],
					[t('air.sources.requests'), number(of.requests)],
					[t('air.sources.backfill.at'), <Time key="at" at={of.advanced_at} relative />],
				]}
			/>
		</Card>
	);
}

function Range(props: { from: string; to: string }): JSX.Element {
	return (
		<>
			<Time at={props.from} /> – <Time at={props.to} />
		</>
	);
}
