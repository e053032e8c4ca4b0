import { useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { today } from '../dates';
import { number, percent, tenths } from '../format';
import { locale, t } from '../i18n';
import { Badge } from '../ui/Badge';
import { Deferred } from '../ui/Deferred';
import { Empty, Fetched } from '../ui/FetchState';
import { Select } from '../ui/Field';
import { Card } from '../ui/Page';
import { Table } from '../ui/Table';
import { useFilters } from '../ui/useFilters';
import { type Pollutant, pollutants } from './category';
import { years } from './period';
import {
	type Course,
	capture,
	courseOf,
	type Judged,
	judged,
	type Limit,
	limitsOf,
	type Measured,
	type Statistic,
	statistics,
} from './statistics';
import './statistics.css';

const pm25 = { id: 'pm25', name: 'PM2.5', unit: 'µg/m³' } as const;

type Readings = { first: string; last: string } | undefined;

/** Statistics shows the course of the day and the week, and the days above the limits, of a pollutant in a year. */
export function Statistics(props: { first: boolean; of: Measured; readings: Readings }): JSX.Element {
	const { of, readings } = props;
	const [filters, change] = useFilters(['pollutant', 'in']);
	const pollutant = pollutants.find(({ id }) => id === filters.pollutant) ?? pm25;
	const known = readings ? years(readings.first, readings.last) : [];
	const year = filters.in || known[0] || today(new Date()).slice(0, 4);
	const chosen = { of, pollutant: pollutant.id, name: pollutant.name, unit: pollutant.unit, year };
	return (
		<>
			<Card title={t('air.course')}>
				<Deferred first={props.first} height="30rem">
					{() => (
						<>
							<div class="filters paired">
								<Select
									label={t('air.pollutant')}
									value={pollutant.id}
									options={pollutants.map(({ id, name }) => [id, name] as const)}
									change={(value) => change({ pollutant: value })}
								/>
								<Select
									label={t('air.statistics.year')}
									value={year}
									options={(known.includes(year) ? known : [year, ...known]).map((one) => [one, one] as const)}
									change={(value) => change({ in: value })}
								/>
							</div>
							<Courses {...chosen} />
						</>
					)}
				</Deferred>
			</Card>
			<Card title={`${t('air.limits')}: ${pollutant.name}, ${year}`} class="limits">
				<Deferred first={props.first} height="20rem">
					{() => <Limits {...chosen} />}
				</Deferred>
			</Card>
		</>
	);
}

/** Chosen is the selection that the statistics show. */
interface Chosen {
	of: Measured;
	pollutant: Pollutant;
	name: string;
	unit: string;
	year: string;
}

function None(props: { year: string }): JSX.Element {
	return (
		<Empty title={t('air.statistics.none', { year: props.year })}>
			<p>{t('air.statistics.none.hint')}</p>
		</Empty>
	);
}

const hoursOfDay = Array.from({ length: 24 }, (_, hour) => hour);
const daysOfWeek = [1, 2, 3, 4, 5, 6, 7] as const;

/** hourName returns the name of an hour of the day, such as 08:00. */
function hourName(hour: number): string {
	return `${String(hour).padStart(2, '0')}:00`;
}

/** dayName returns the name of a day of the week. 1 is Monday, as 1 January 2024 was. */
function dayName(weekday: number, style: 'short' | 'long'): string {
	return new Intl.DateTimeFormat(locale.value, { weekday: style, timeZone: 'UTC' }).format(Date.UTC(2024, 0, weekday));
}

function Courses(props: Chosen): JSX.Element {
	const { of, pollutant, year } = props;
	const day = useQuery(statistics(of, 'diurnal', pollutant, year));
	const week = useQuery(statistics(of, 'weekday', pollutant, year));
	return (
		<Fetched query={day}>
			{(hours) => (
				<Fetched query={week}>
					{(days) =>
						hours.length === 0 ? (
							<None year={year} />
						) : (
							<>
								<p class="hint">{t('air.course.about', { year, share: percent(capture(hours), 1) })}</p>
								<Bars
									{...props}
									title={t('air.course.day')}
									course={courseOf(hours)}
									slots={hoursOfDay}
									label={hourName}
									tick={(at) => (at % 3 === 0 ? String(at) : '')}
								/>
								<Bars
									{...props}
									title={t('air.course.week')}
									course={courseOf(days)}
									slots={daysOfWeek}
									label={(at) => dayName(at, 'long')}
									tick={(at) => dayName(at, 'short')}
								/>
							</>
						)
					}
				</Fetched>
			)}
		</Fetched>
	);
}

/**
 * Bars draws a course as bars, with a table of the same figures. Seven or 24 bars without an axis of time do not need the
 * library of the charts.
 */
function Bars(
	props: Chosen & {
		title: string;
		course: readonly Course[];
		/** slots are all parts of the day or the week, also those without readings. */
		slots: readonly number[];
		label: (at: number) => string;
		tick: (at: number) => string;
	},
): JSX.Element {
	const { course, label, name, title, unit } = props;
	const [table, setTable] = useState(false);
	const sorted = [...course].sort((a, b) => a.mean - b.mean);
	const [least, most] = [sorted[0], sorted.at(-1)];
	const text = (mean: number) => `${tenths(mean)} ${unit}`;
	const means = new Map(course.map(({ at, mean }) => [at, mean]));
	// 24 bars have no room for tenths. A figure is rounded as a reader would round the tenths of the summary.
	const short = (mean: number) => (mean < 10 || props.slots.length <= 7 ? tenths(mean) : number(Math.round(Number(mean.toFixed(1)))));
	const summary =
		least &&
		most &&
		t('air.course.label', { name, least: text(least.mean), low: label(least.at), most: text(most.mean), high: label(most.at) });
	return (
		<>
			<h3>{title}</h3>
			<p class="hint" aria-hidden="true">
				{summary}
			</p>
			{most && (
				<div class={props.slots.length > 7 ? 'course-bars many' : 'course-bars'} role="img" aria-label={`${title}. ${summary}`}>
					{props.slots.map((at) => {
						const mean = means.get(at);
						return (
							<div key={at} title={`${label(at)}: ${mean === undefined ? t('air.nofigure') : text(mean)}`}>
								<span class="course-space">
									<small class={at === most.at || at === least?.at ? 'course-value' : 'course-value between'}>
										{mean === undefined ? '–' : short(mean)}
									</small>
									{mean !== undefined && (
										<span
											class={at === most.at ? 'course-bar most' : 'course-bar'}
											style={{ height: `calc((100% - var(--figure)) * ${mean / most.mean})` }}
										/>
									)}
								</span>
								<small>{props.tick(at)}</small>
							</div>
						);
					})}
				</div>
			)}
			<div class="actions">
				<button type="button" class="small" aria-expanded={table} onClick={() => setTable(!table)}>
					{t(table ? 'air.table.hide' : 'air.table')}
				</button>
			</div>
			{table && (
				<Table
					caption={title}
					rows={course}
					id={({ at }) => String(at)}
					columns={[
						{ name: title, show: ({ at }) => label(at) },
						{ name: `${name} (${unit})`, figure: true, show: ({ mean }) => tenths(mean) },
						{ name: t('air.course.hours'), figure: true, show: ({ hours }) => number(hours) },
					]}
				/>
			)}
		</>
	);
}

const standards = { naaqs_2009: 'NAAQS', who_2021: 'WHO' } as const;

function Limits(props: Chosen): JSX.Element {
	const { of, name, pollutant, unit, year } = props;
	const query = useQuery(statistics(of, 'exceedance', pollutant, year));
	const limits = limitsOf(query.data ?? []);
	// The standards limit the same mean of the year.
	const annual = limits.filter(({ period }) => period === 'year');
	const labelled = { phone: 'labelled' } as const;
	return (
		<Fetched query={query}>
			{(rows) =>
				rows.length === 0 ? (
					<None year={year} />
				) : (
					<>
						<p class="hint">{t('air.limits.about')}</p>
						<Table
							caption={`${t('air.limits')}, ${name}, ${year}`}
							rows={judged(rows)}
							id={({ id }) => id}
							compact
							columns={[
								{ name: t('air.station'), heading: true, show: (station) => station.name },
								...limits.flatMap(({ id, period, standard, value }) =>
									period === 'year'
										? []
										: [
												{
													name: `${standards[standard]}, ${t(`air.limits.${period}`)}: ${number(value)} ${unit}`,
													...labelled,
													show: (station: Judged) => <Exceeded of={station.rows.get(id)} period={period} />,
												},
											],
								),
								...(annual.length > 0
									? [
											{
												name: `${t('air.limits.mean')}: ${annual.map((limit) => `${standards[limit.standard]} ${number(limit.value)}`).join(', ')} ${unit}`,
												...labelled,
												show: (station: Judged) => <Mean of={station} limits={annual} unit={unit} />,
											},
										]
									: []),
								{ name: t('air.limits.measured'), figure: true, ...labelled, show: (station) => `${percent(station.capture, 1)} %` },
							]}
						/>
					</>
				)
			}
		</Fetched>
	);
}

/** Exceeded shows how often a limit was exceeded, and whether its rule was met. */
function Exceeded(props: { of: Statistic | undefined; period: Limit['period'] }): JSX.Element {
	const { of, period } = props;
	if (!of?.evaluated) {
		return <span class="absent">–</span>;
	}
	const text = t(`air.limits.${period === '1h' ? 'hour' : 'day'}${of.evaluated === 1 ? '' : 's'}`, {
		exceeded: number(of.exceeded ?? 0),
		count: number(of.evaluated),
	});
	return (
		<>
			{text} <Compliance of={of} />
		</>
	);
}

/** Mean shows the mean of the year of a station, and which of the limits it meets. */
function Mean(props: { of: Judged; limits: readonly Limit[]; unit: string }): JSX.Element {
	const judged = props.limits.flatMap((limit) => {
		const of = props.of.rows.get(limit.id);
		return of?.evaluated ? [{ limit, of }] : [];
	});
	const mean = judged[0]?.of.largest;
	if (typeof mean !== 'number') {
		return <span class="absent">–</span>;
	}
	return (
		<>
			{`${tenths(mean)} ${props.unit}`}{' '}
			{judged.map(({ limit, of }) => (
				<Compliance key={limit.id} of={of} standard={standards[limit.standard]} />
			))}
		</>
	);
}

/** Compliance shows whether the rule of a limit was met, if it was judged. */
function Compliance(props: { of: Statistic; standard?: string | undefined }): JSX.Element | null {
	const { complies } = props.of;
	if (typeof complies !== 'boolean') {
		return null;
	}
	const result = t(complies ? 'air.limits.met' : 'air.limits.missed');
	return <Badge tone={complies ? 'good' : 'bad'}>{props.standard ? `${props.standard}: ${result}` : result}</Badge>;
}
