import type { UseQueryResult } from '@tanstack/preact-query';
import type { ComponentChildren, JSX } from 'preact';
import { lazy } from 'preact/compat';
import { useMemo, useState } from 'preact/hooks';
import { Problem } from '../api/client';
import { today } from '../dates';
import { number } from '../format';
import { cityName, t } from '../i18n';
import { Empty, Failed, Fetched } from '../ui/FetchState';
import { Filter, Select } from '../ui/Field';
import { LazyPart } from '../ui/LazyPart';
import { Segments } from '../ui/Segments';
import { Table } from '../ui/Table';
import { zoneName } from '../zone';
import type { Drawn } from './Chart';
import { bandOf, type Figure, figureOf, pollutants } from './category';
import { daysOf, ends, mostHours, nameOfPeriod, type Period, periodOf } from './period';
import { SaveChart } from './SaveChart';
import { type Entry, framed, line, moment, recent, type Span, type Step, spanOf, spans, stepOf } from './series';
import { stamp } from './stamp';

// The chart library and the data are fetched at the same time.
const load = () => import('./Chart');
const begun = load();
begun.catch(() => undefined); // the chart tries again
const Chart = lazy(async () => (await begun.catch(load)).Chart);

/** ShownSeries is the selection that a chart shows. */
export interface ShownSeries {
	span: Span;
	period: Period;
	figure: Figure;
	step: Step;
}

/** Shown is the part of the address that selects what a chart shows. */
export interface Shown {
	span?: string;
	of?: string;
	by?: string;
	from?: string;
	to?: string;
}

/** shownOf reads the selection of a chart from the address. Its period ends on a chosen day, or today. */
export function shownOf(filters: Shown, date?: string): ShownSeries {
	const span = spanOf(filters.span);
	const period = periodOf(span, filters, date);
	const days = daysOf(period);
	const step = days > mostHours ? 'day' : stepOf(filters.by, span, days);
	return { span, period, figure: figureOf(filters.of ?? null), step };
}

/** Controls selects the period, the figure and the interval (hour or day). */
export function Controls(props: {
	shown: ShownSeries;
	change: (change: Shown) => void;
	/** readings are the first and the last day that can be chosen. */
	readings?: { first: string; last: string } | undefined;
}): JSX.Element {
	const { shown, change } = props;
	const { from, to } = shown.period;
	const most = today(new Date());
	const min = props.readings ? { min: props.readings.first } : {};
	return (
		<div class="filters paired">
			<Segments
				label={t('air.span')}
				value={shown.span}
				options={spans.map(({ id }) => [id, t(`air.span.${id}`)] as const)}
				change={(span) => change({ span, by: '', from: span === 'range' ? from : '', to: span === 'range' ? to : '' })}
			/>
			{shown.span === 'range' && (
				<>
					<Filter label={t('air.from')} type="date" value={from} max={most} {...min} apply={(day) => change({ from: day, by: '' })} />
					<Filter label={t('air.to')} type="date" value={to} max={most} {...min} apply={(day) => change({ to: day, by: '' })} />
				</>
			)}
			<Select
				label={t('air.figure')}
				value={shown.figure}
				options={[['aqi', t('air.index')], ...pollutants.map(({ id, name }) => [id, name] as const)]}
				change={(of) => change({ of: of === 'aqi' ? '' : of })}
			/>
			{shown.span !== '24h' && daysOf(shown.period) > 1 && daysOf(shown.period) <= mostHours && (
				<Select
					label={t('air.by')}
					value={shown.step}
					options={[
						['hour', t('air.hours')],
						['day', t('air.days')],
					]}
					change={(by) => change({ by })}
				/>
			)}
		</div>
	);
}

/** unitOf returns the unit of a figure. The index has none, so its own name is returned. */
export function unitOf(figure: Figure): string {
	return pollutants.find(({ id }) => id === figure)?.unit ?? 'AQI';
}

/** nameOf returns the display name of a figure. */
export function nameOf(figure: Figure): string {
	return pollutants.find(({ id }) => id === figure)?.name ?? t('air.index');
}

/** Series is the fetched data of one line. */
export interface Series {
	name: string;
	token: string;
	dash: readonly number[];
	entries: readonly Entry[];
}

/**
 * Lines is a chart with a table of the same figures. The parent stores whether the table is open, so that it
 * stays open while other data loads.
 */
export function Lines(props: {
	series: readonly Series[];
	shown: ShownSeries;
	table: boolean;
	setTable: (open: boolean) => void;
	/** place names the place of a single line. */
	place?: string | undefined;
	/** credit returns who measured the figures, for saved pictures. */
	credit: () => string;
	/** more is shown beside the buttons that save the chart. */
	more?: ComponentChildren;
}): JSX.Element {
	const { series, shown, table, setTable } = props;
	const { from, to } = shown.period;
	// The last 24 hours end with the newest figure. Every other period begins and ends at midnight.
	const last24 = shown.span === '24h' && from !== to;
	const cut = useMemo(
		() => series.map((one) => ({ ...one, entries: last24 && one.entries.length > 0 ? recent(one.entries) : one.entries })),
		[series, last24],
	);
	const drawn: Drawn[] = useMemo(() => {
		const newest = Math.max(...cut.flatMap(({ entries }) => entries.map(moment)));
		const [first, last] = last24 ? [newest - 86_400, newest] : ends({ from, to }, shown.step);
		return cut.map(({ name, token, dash, entries }) => ({
			name,
			token,
			dash,
			...framed(line(entries, shown.figure, shown.step), first, last),
		}));
	}, [cut, last24, from, to, shown.figure, shown.step]);
	const label = drawn.map((one) => described(one, shown)).join(' ');
	return (
		<>
			<div class="chart-place">
				<LazyPart>
					<Chart lines={drawn} figure={shown.figure} unit={unitOf(shown.figure)} step={shown.step} label={label} />
				</LazyPart>
			</div>
			<p class="hint">
				{t('air.chart.hint')} <span class="with-mouse">{t('air.chart.zoom')}</span>
			</p>
			<div class="actions">
				<button type="button" aria-expanded={table} onClick={() => setTable(!table)}>
					{t(table ? 'air.table.hide' : 'air.table')}
				</button>
				<SaveChart
					lines={drawn}
					figure={shown.figure}
					unit={unitOf(shown.figure)}
					step={shown.step}
					title={[
						props.place ?? series.map(({ name }) => name).join(' – '),
						nameOf(shown.figure),
						nameOfPeriod('range', shown.period),
					].join(', ')}
					name={nameOf(shown.figure)}
					credit={props.credit}
				/>
				{props.more}
			</div>
			{table && <Figures series={cut} shown={shown} />}
		</>
	);
}

/** described returns the text alternative of a line. */
function described(one: Drawn, shown: ShownSeries): string {
	const values = one.ys.filter((y) => y !== null);
	const last = values.at(-1);
	if (last === undefined) {
		return `${one.name}: ${t('air.nofigure')}.`;
	}
	return t('air.chart.label', {
		name: one.name,
		figure: one.name === nameOf(shown.figure) ? unitOf(shown.figure) : nameOf(shown.figure),
		span: nameOfPeriod(shown.span, shown.period),
		least: number(Math.min(...values)),
		most: number(Math.max(...values)),
		last: number(last),
		unit: shown.figure === 'aqi' ? '' : unitOf(shown.figure),
	});
}

const page = 100;

function Figures(props: { series: readonly Series[]; shown: ShownSeries }): JSX.Element {
	const { series, shown } = props;
	const [most, setMost] = useState(page);
	const { rows, values } = useMemo(() => {
		const values = series.map((one) => new Map(one.entries.map((entry) => [moment(entry), entry] as const)));
		const rows = [...new Set(values.flatMap((map) => [...map.keys()]))].sort((a, b) => b - a);
		return { rows, values };
	}, [series]);
	return (
		<div class="figures">
			<Table
				caption={`${nameOf(shown.figure)}, ${unitOf(shown.figure)}, ${nameOfPeriod(shown.span, shown.period)}`}
				rows={rows.slice(0, most)}
				id={String}
				columns={[
					{ name: shown.step === 'day' ? t('air.day') : `${t('air.hour')} (${zoneName.value})`, show: (x) => stamp(x, shown.step) },
					...series.map((one, index) => ({
						name: one.name,
						figure: true,
						show: (x: number) => {
							const entry = values[index]?.get(x);
							const value = entry?.[shown.figure];
							const band = shown.figure === 'aqi' ? bandOf(entry?.category) : undefined;
							return value === null || value === undefined ? '–' : `${number(value)}${band ? ` ${t(band.name)}` : ''}`;
						},
					})),
				]}
			/>
			{rows.length > most && (
				<button type="button" onClick={() => setMost(most + 2 * page)}>
					{t('state.more')}
				</button>
			)}
		</div>
	);
}

/** RangedChart renders the result of a range query. An empty range is shown as a hint, not as an error. */
export function RangedChart(props: {
	query: UseQueryResult<Entry[], Error>;
	since?: ComponentChildren;
	/** period names the period that is shown. */
	period: string;
	children: (entries: Entry[]) => ComponentChildren;
}): JSX.Element {
	const { query } = props;
	if (!query.data && query.error instanceof Problem && query.error.code === 'no_data') {
		return <Empty title={t('air.nodata.day', { day: props.period })}>{props.since ?? <p>{t('air.nodata.hint')}</p>}</Empty>;
	}
	return (
		<Fetched query={query}>
			{(entries) =>
				entries.length > 0 ? props.children(entries) : <Empty title={t('air.nodata.day', { day: props.period })}>{props.since}</Empty>
			}
		</Fetched>
	);
}

/** ChartError shows why a place has no data, and offers the places that the API suggests. */
export function ChartError(props: {
	/** name is the requested name of the place. */
	name: string;
	error: unknown;
	again: () => void;
	choose: (name: string) => JSX.Element;
}): JSX.Element {
	const { error, name } = props;
	const choices = error instanceof Problem ? error.choices : [];
	const shared = error instanceof Problem && error.code === 'ambiguous_location';
	return (
		<>
			{choices.length > 0 ? (
				<p class="lead" role="status">
					{shared ? t('air.search.several', { name: cityName(name) }) : t('air.unknown.city', { name })}
				</p>
			) : (
				<Failed error={error} again={props.again} />
			)}
			{choices.length > 0 && (
				<ul class="choices-list" aria-label={t('air.meant')}>
					{choices.map((name) => (
						<li key={name}>{props.choose(name)}</li>
					))}
				</ul>
			)}
		</>
	);
}
