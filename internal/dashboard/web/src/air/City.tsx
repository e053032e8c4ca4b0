import { useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { Problem } from '../api/client';
import { before, today } from '../dates';
import { day } from '../format';
import { cityName, t } from '../i18n';
import { hasScope } from '../session';
import { Deferred } from '../ui/Deferred';
import { Empty, Loading } from '../ui/FetchState';
import { Select } from '../ui/Field';
import { Card, Page } from '../ui/Page';
import { ShareLink } from '../ui/ShareLink';
import { useFilters } from '../ui/useFilters';
import { useMinute } from '../ui/useNow';
import { Advice, useAdvice } from './Advice';
import { ChartError, Controls, Lines, nameOf, RangedChart, type Shown, shownOf } from './AirCharts';
import { Legend, RequireScope } from './AirLegend';
import { Current, Pollutants, Stations } from './AirRecord';
import { isStale } from './age';
import { Calendar } from './Calendar';
import { Embed } from './Embed';
import { credits, history, readingsOf, type Subject, useReadings, useRecord, useStation } from './history';
import { nameOfPeriod, yearOf, years } from './period';
import { cityPath, decoded, forecastPath } from './places';
import { SaveHours } from './SaveHours';
import { Search } from './Search';
import { Statistics } from './Statistics';
import { save, saved } from './saved';

/** City is the page of a city: its air quality now, on a day, and over time. */
export function City(props: Record<string, string>): JSX.Element {
	const name = decoded(props.city ?? '');
	return <Place where={useMemo(() => ({ city: name }), [name])} title={cityName(name)} />;
}

/** Pin is the page of a pin code. */
export function Pin(props: Record<string, string>): JSX.Element {
	const code = decoded(props.pincode ?? '');
	return <Place where={useMemo(() => ({ pincode: code }), [code])} title={t('air.pin', { pin: code })} />;
}

/** Station is the page of a station. */
export function Station(props: Record<string, string>): JSX.Element {
	const id = decoded(props.station ?? '');
	const station = useStation(id).data;
	return <Place where={useMemo(() => ({ station: id }), [id])} title={station?.name || id} />;
}

function Place(props: { where: Subject; title: string }): JSX.Element {
	const { where, title } = props;
	// A city cannot be compared if no city, or several cities, have its name.
	const now = useRecord(where, undefined);
	const known = !now.error && hasScope('aqi:read');
	return (
		<Page
			title={title}
			actions={
				'city' in where && known ? (
					<>
						<ShareLink title={title} />
						<Save of={now.data?.city} />
						<Link class="button" href={forecastPath(where.city)}>
							{t('air.forecast')}
						</Link>
						<Link class="button" href={`/compare?city=${encodeURIComponent(where.city)}`}>
							{t('air.compare')}
						</Link>
						{hasScope('alerts:manage') && (
							<Link class="primary" href={`/alerts/new?city=${encodeURIComponent(where.city)}`}>
								{t('alerts.add')}
							</Link>
						)}
					</>
				) : (
					known && (
						<>
							<ShareLink title={title} />
							{hasScope('alerts:manage') && (
								<Link class="primary" href={`/alerts/new?${new URLSearchParams({ ...where })}`}>
									{t('alerts.add')}
								</Link>
							)}
						</>
					)
				)
			}
		>
			<RequireScope>
				<Air where={where} title={title} />
				<div class="search-row">
					<Search label={t('air.search.other')} />
				</div>
			</RequireScope>
		</Page>
	);
}

/** Save saves a city on the home page, or removes it. It takes up its space before the name of the city is known. */
function Save(props: { of: string | undefined }): JSX.Element {
	const { of = '' } = props;
	const on = saved.value.includes(of);
	return (
		<button
			type="button"
			disabled={!of}
			aria-pressed={on}
			aria-label={t('home.air.save.label')}
			title={t('home.air.save.label')}
			onClick={() => save(of, !on)}
		>
			{on ? '★' : '☆'} {t('home.air.save')}
		</button>
	);
}

function Air(props: { where: Subject; title: string }): JSX.Element {
	const { where, title } = props;
	const [filters, change] = useFilters(['date', 'span', 'of', 'by', 'from', 'to', 'year']);
	const { date } = filters;
	const record = useRecord(where, date);
	const now = useRecord(where, undefined);
	const place = now.data?.city ?? ('city' in where ? where.city : undefined);
	const ofCity = useReadings('station' in where ? undefined : place);
	const station = useStation('station' in where ? where.station : undefined).data;
	const readings = station ? readingsOf(station) : ofCity;
	const advice = useAdvice();
	const minute = useMinute();
	const measured = 'station' in where ? where : 'city' in where && now.data ? { city: now.data.city } : undefined;
	const period = yearOf(shownYear(filters.year, date, readings));
	const days = useQuery(history(where, period, 'day')).data;
	const since = (
		<Since
			place={station?.name ?? place}
			readings={readings}
			// The readings of a pin code are those of its city, but its days are its own.
			first={readings && !('pincode' in where) && period.from <= readings.first ? days?.[0]?.date : undefined}
			choose={(chosen) => change({ date: chosen, year: '' })}
		/>
	);
	const top = useRef<HTMLDivElement>(null);
	const shown = useRef(date);
	useEffect(() => {
		// Scroll to the record of a chosen day, which is above the calendar. Otherwise a choice would seem to have no effect.
		if (shown.current !== date) {
			shown.current = date;
			top.current?.focus();
			top.current?.scrollIntoView({ block: 'start' });
		}
	}, [date]);
	const loading = !record.data || advice.isLoading;
	const drawn = useRef(false);
	// A new fetch of a record without data clears the error of the last one. Until it ends, the page keeps its message.
	const wanted = JSON.stringify([where, date]);
	const empty = useRef<string>();
	if (record.data || record.error) {
		empty.current = record.error instanceof Problem && record.error.code === 'no_data' ? wanted : undefined;
	}
	const missing = !record.data && empty.current === wanted;
	drawn.current ||= !loading || missing;
	if (!record.data && record.error instanceof Problem && record.error.status === 503) {
		return (
			<Card>
				<Empty title={record.error.message || t('air.none')}>{t('air.none.hint')}</Empty>
			</Card>
		);
	}
	if (!record.data && record.error && !missing) {
		return (
			<Card>
				<ChartError
					name={title}
					error={record.error}
					again={() => void record.refetch()}
					choose={(name) => (
						<Link class="button" href={cityPath(name)}>
							{cityName(name)}
						</Link>
					)}
				/>
				{'pincode' in where && record.error instanceof Problem && record.error.status === 404 && (
					<p class="hint unknown-pin">{t('air.pin.hint')}</p>
				)}
			</Card>
		);
	}
	return (
		<>
			{/* biome-ignore lint/a11y/useSemanticElements: it groups cards and has no legend */}
			<div
				ref={top}
				role="group"
				tabIndex={-1}
				class={`record ${missing || !loading ? '' : 'waiting'}`}
				aria-label={date ? t('air.on', { day: day(date) }) : t('air.now')}
			>
				{record.data && !loading ? (
					<>
						<Current record={record.data} advice={advice.data} date={date} go={(to) => change({ date: to })} />
						<Pollutants record={record.data} date={date} />
						{!date && !isStale(record.data, minute) && <Advice reply={advice.data} category={record.data.category} />}
					</>
				) : missing ? (
					<Card>
						<Empty title={date ? t('air.nodata.day', { day: day(date) }) : t('air.nodata')}>
							{since}
							{date && (
								<button type="button" onClick={() => change({ date: '' })}>
									{t('air.back')}
								</button>
							)}
						</Empty>
					</Card>
				) : (
					<Loading />
				)}
			</div>
			<Over
				first={drawn.current}
				where={where}
				filters={filters}
				date={date}
				change={change}
				since={missing && date ? undefined : since}
				readings={readings}
				title={title}
				credit={() => credits((record.data ?? now.data)?.attribution ?? [])}
			/>
			<Year first={drawn.current} where={where} date={date} year={filters.year} readings={readings} change={change} since={since} />
			{measured && <Statistics first={drawn.current} of={measured} readings={readings} />}
			{record.data && <Stations record={record.data} date={date} />}
			{'city' in where && now.data && (
				<Deferred first={drawn.current} height="18rem">
					{() => <Embed city={now.data.city} />}
				</Deferred>
			)}
		</>
	);
}

function Over(props: {
	first: boolean;
	where: Subject;
	filters: Shown;
	date: string | undefined;
	change: (change: Shown) => void;
	since: JSX.Element | undefined;
	readings: Readings;
	title: string;
	credit: () => string;
}): JSX.Element {
	const { where, filters } = props;
	const [table, setTable] = useState(false);
	const shown = shownOf(filters, props.date);
	const query = useQuery(history(where, shown.period, shown.step));
	const name = nameOf(shown.figure);
	const series = useMemo(() => [{ name, token: 'ink', dash: [], entries: query.data ?? [] }], [query.data, name]);
	return (
		<Card title={t('air.over')}>
			<Deferred first={props.first} height="28rem">
				{() => (
					<>
						<Controls shown={shown} change={props.change} readings={props.readings} />
						<RangedChart query={query} since={props.since} period={nameOfPeriod('range', shown.period)}>
							{() => (
								<Lines
									{...{ series, shown, table, setTable }}
									place={props.title}
									credit={props.credit}
									more={!('pincode' in where) && <SaveHours of={where} period={shown.period} title={props.title} />}
								/>
							)}
						</RangedChart>
					</>
				)}
			</Deferred>
		</Card>
	);
}

type Readings = { first: string; last: string } | undefined;

/** shownYear returns the year that the calendar shows; empty for the last 365 days. */
function shownYear(year: string | undefined, date: string | undefined, readings: Readings): string {
	if (year) {
		return year === 'last' ? '' : year;
	}
	const first = before(today(new Date()), 364);
	if (date) {
		return date < first ? date.slice(0, 4) : '';
	}
	return readings && readings.last < first ? readings.last.slice(0, 4) : '';
}

function Year(props: {
	first: boolean;
	where: Subject;
	date: string | undefined;
	year: string | undefined;
	readings: Readings;
	change: (change: { date?: string; year?: string }) => void;
	since: JSX.Element;
}): JSX.Element {
	const { change, date, readings } = props;
	const year = shownYear(props.year, date, readings);
	const period = yearOf(year);
	const query = useQuery(history(props.where, period, 'day'));
	const known = readings ? years(readings.first, today(new Date())) : [];
	const all = year && !known.includes(year) ? [year, ...known] : known;
	const choices = ['', ...all];
	const at = choices.indexOf(year);
	const go = (to: string | undefined) => to !== undefined && change({ year: to || 'last' });
	return (
		<Card title={t('air.calendar')}>
			<Deferred first={props.first} height="22rem">
				{() => (
					<>
						<div class="filters stepper">
							<button type="button" disabled={at >= choices.length - 1} onClick={() => go(choices[at + 1])}>
								‹ <span class="step">{t('air.year.before')}</span>
							</button>
							<Select
								label={t('air.year')}
								value={year}
								options={choices.map((one) => [one, one || t('air.year.last')] as const)}
								change={go}
							/>
							<button type="button" disabled={at <= 0} onClick={() => go(choices[at - 1])}>
								<span class="step">{t('air.year.after')}</span> ›
							</button>
						</div>
						<RangedChart query={query} since={props.since} period={nameOfPeriod('range', period)}>
							{(entries) => (
								<>
									<Legend empty />
									<Calendar
										key={year}
										from={period.from}
										to={period.to}
										entries={entries}
										chosen={date}
										onChoose={(chosen) => change({ date: chosen })}
									/>
								</>
							)}
						</RangedChart>
					</>
				)}
			</Deferred>
		</Card>
	);
}

/** whole writes a day that no line breaks. */
const whole = (date: string) => day(date).replaceAll(' ', '\u00a0');

/**
 * Since shows the first and the last day of a place's readings, and leads to the last. first is the first day with an AQI.
 * Days can have readings and no AQI: some have too few, and those that were just stored are not computed yet.
 */
function Since(props: {
	place: string | undefined;
	readings: Readings;
	first: string | undefined;
	choose: (date: string) => void;
}): JSX.Element {
	const { place, readings, first } = props;
	if (!place || !readings) {
		return <p>{t('air.nodata.hint')}</p>;
	}
	const from = first && first < readings.first ? first : readings.first;
	return (
		<>
			<p>
				{t('air.since', { place, first: whole(from), last: whole(readings.last) })}
				{first && first > from && ` ${t('air.since.index', { day: whole(first) })}`}
			</p>
			{readings.last < today(new Date()) && (
				<button type="button" onClick={() => props.choose(readings.last)}>
					{t('air.since.go', { day: day(readings.last) })}
				</button>
			)}
		</>
	);
}
