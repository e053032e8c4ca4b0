import type { JSX } from 'preact';
import { Link } from 'wouter-preact';
import { number } from '../format';
import { t } from '../i18n';
import { hasScope } from '../session';
import { Time } from '../ui/Badge';
import { Empty, Fetched } from '../ui/FetchState';
import { Card, Facts, Page } from '../ui/Page';
import { Table } from '../ui/Table';
import { RequireScope } from './AirLegend';
import { CoverageMap } from './Coverage';
import type { SourceRow } from './coverage';
import { decoded } from './places';
import { LastRun, Outcome, Reasons, State } from './SourceParts';
import { SourceProgress } from './SourceProgress';
import { type SourceDetail, useSource, useSources } from './sourceQueries';
import { reasonText, sourceName } from './sourceTexts';

/** Source is the page of a source: problems, coverage, and for operators its runs and rejected values. */
export function Source(props: Record<string, string>): JSX.Element {
	const name = decoded(props.source ?? '');
	return (
		<Page title={sourceName(name)} actions={<Link href="/sources">{t('air.sources.all')}</Link>}>
			<RequireScope>
				<Listed name={name} />
				{hasScope('sources:read') ? <ForOperators name={name} /> : <p class="hint">{t('air.sources.operators')}</p>}
			</RequireScope>
		</Page>
	);
}

function Listed(props: { name: string }): JSX.Element {
	return (
		<Fetched query={useSources()}>
			{({ data }) => {
				const row = data.find(({ source }) => source === props.name);
				return row ? <Present row={row} /> : <Empty title={t('air.sources.gone')} />;
			}}
		</Fetched>
	);
}

function Present(props: { row: SourceRow }): JSX.Element {
	const { row } = props;
	return (
		<>
			<Card>
				<Facts
					of={[
						[t('air.sources.state'), <State key="state" of={row} />],
						[t('air.sources.newest'), <Time key="newest" at={row.newest_reading_at} relative />],
						[t('air.sources.outcome'), <LastRun key="run" of={row.last_run} />],
					]}
				/>
			</Card>
			<Card title={t('air.sources.coverage')}>
				<CoverageMap of={row.coverage} />
			</Card>
			{row.progress && <SourceProgress of={row.progress} />}
		</>
	);
}

function ForOperators(props: { name: string }): JSX.Element {
	return (
		<Fetched query={useSource(props.name)}>
			{({ data }) => (
				<>
					{data.problems.length > 0 && <Problems of={data.problems} />}
					<Runs of={data.runs} />
					<Rejected of={data.rejected} />
				</>
			)}
		</Fetched>
	);
}

function Problems(props: { of: SourceDetail['problems'] }): JSX.Element {
	return (
		<Card title={t('air.sources.problems')}>
			<Table
				caption={t('air.sources.problems')}
				rows={props.of}
				id={(row) => row.problem}
				columns={[
					{ name: t('air.sources.problem'), show: (row) => <span class="sentence">{t(`air.sources.problem.${row.problem}`)}</span> },
					{ name: t('air.sources.since'), show: (row) => <Time at={row.since} /> },
					{ name: t('air.sources.detail'), show: (row) => <Detail text={row.detail} /> },
				]}
			/>
		</Card>
	);
}

/** Detail shows a text of the API with its times in the zone of the page. */
function Detail(props: { text: string }): JSX.Element {
	return <>{props.text.split(/(\d{4}-\d\d-\d\dT[\d:.]+Z)/).map((part, i) => (i % 2 === 1 ? <Time key={i} at={part} /> : part))}</>;
}

function Runs(props: { of: SourceDetail['runs'] }): JSX.Element {
	return (
		<Card title={t('air.sources.runs')}>
			<Table
				caption={t('air.sources.runs')}
				compact
				rows={props.of}
				id={(row) => String(row.run)}
				columns={[
					{ name: t('air.sources.run'), show: (row) => <Time at={row.started_at} /> },
					{ name: t('air.sources.kind'), show: (row) => <span class="sentence">{t(`air.sources.kind.${row.kind}`)}</span> },
					{ name: t('air.sources.result'), phone: 'top', show: (row) => <Outcome outcome={row.outcome} /> },
					{
						name: t('air.sources.seconds'),
						figure: true,
						phone: 'labelled end',
						show: (row) => number(Number(row.duration_seconds.toPrecision(2))),
					},
					{ name: t('air.sources.requests'), figure: true, phone: 'labelled', show: (row) => number(row.requests) },
					{ name: t('air.sources.stored.run'), figure: true, phone: 'labelled end', show: (row) => number(row.stored) },
					{ name: t('air.sources.rejected.run'), figure: true, phone: 'labelled', show: (row) => <Reasons of={row.rejected} /> },
					{ name: t('air.sources.error'), phone: 'line', show: (row) => row.error || '–' },
				]}
			/>
		</Card>
	);
}

function Rejected(props: { of: SourceDetail['rejected'] }): JSX.Element {
	return (
		<Card title={t('air.sources.rejects')}>
			{props.of.length === 0 ? (
				<Empty title={t('air.sources.rejects.none')} />
			) : (
				<>
					<p class="hint">{t('air.sources.rejects.about')}</p>
					<Table
						caption={t('air.sources.rejects')}
						rows={props.of.map((row, index) => ({ ...row, index }))}
						id={(row) => String(row.index)}
						columns={[
							{ name: t('air.sources.reason'), show: (row) => <span class="sentence">{reasonText(row.reason)}</span> },
							{ name: t('air.sources.field'), show: (row) => row.field || '–' },
							{ name: t('air.sources.station'), show: (row) => row.station || '–' },
							{ name: t('air.sources.run'), show: (row) => <Time at={row.started_at} /> },
							{ name: t('air.sources.line'), figure: true, show: (row) => (row.line > 0 ? number(row.line) : '–') },
							{ name: t('air.sources.raw'), show: (row) => (row.raw ? <Raw text={row.raw} /> : '–') },
						]}
					/>
				</>
			)}
		</Card>
	);
}

/** Raw shows a record as the network sent it, after a click. */
function Raw(props: { text: string }): JSX.Element {
	return (
		<details>
			<summary>{t('air.sources.record')}</summary>
			<pre class="raw">{props.text}</pre>
		</details>
	);
}
