import { useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { api, Problem, unwrap } from '../api/client';
import { before, today } from '../dates';
import { t } from '../i18n';
import { hasScope } from '../session';
import { Time } from '../ui/Badge';
import { Empty, Loading } from '../ui/FetchState';
import { Card, Page } from '../ui/Page';
import { useFilters } from '../ui/useFilters';
import { ChartError, Controls, Lines, nameOf, RangedChart, shownOf } from './AirCharts';
import { Legend, RequireScope } from './AirLegend';
import { Current, Pollutants, Stations } from './AirRecord';
import { Calendar } from './Calendar';
import { history, type Subject, useRecord } from './history';
import { cityPath, decoded, forecastPath } from './places';
import { Search } from './Search';

/** City is the page of a city: its air quality now, on a day, and over time. */
export function City(props: Record<string, string>): JSX.Element {
	const name = decoded(props.city ?? '');
	return <Place where={useMemo(() => ({ city: name }), [name])} title={name} />;
}

/** Pin is the page of a pin code. */
export function Pin(props: Record<string, string>): JSX.Element {
	const code = decoded(props.pincode ?? '');
	return <Place where={useMemo(() => ({ pincode: code }), [code])} title={t('air.pin', { pin: code })} />;
}

function Place(props: { where: Subject; title: string }): JSX.Element {
	const { where, title } = props;
	return (
		<Page
			title={title}
			actions={
				'city' in where && (
					<>
						<Link class="primary" href={forecastPath(where.city)}>
							{t('air.forecast')}
						</Link>
						<Link class="primary" href={`/compare?city=${encodeURIComponent(where.city)}`}>
							{t('air.compare')}
						</Link>
						{hasScope('alerts:manage') && (
							<Link class="primary" href={`/alerts/new?city=${encodeURIComponent(where.city)}`}>
								{t('alerts.add')}
							</Link>
						)}
					</>
				)
			}
		>
			<RequireScope>
				<Card>
					<Search />
				</Card>
				<Air where={where} />
			</RequireScope>
		</Page>
	);
}

function Air(props: { where: Subject }): JSX.Element {
	const { where } = props;
	const [filters, change] = useFilters(['date', 'span', 'of', 'by']);
	const { date } = filters;
	const record = useRecord(where, date);
	const since = <Since where={where} />;
	const missing = record.error instanceof Problem && record.error.code === 'no_data';
	if (!record.data && record.error && !missing) {
		return (
			<ChartError error={record.error} again={() => void record.refetch()} choose={(name) => <Link href={cityPath(name)}>{name}</Link>} />
		);
	}
	return (
		<>
			{record.data ? (
				<>
					<Current record={record.data} date={date} now={() => change({ date: '' })} />
					<Pollutants record={record.data} date={date} />
				</>
			) : missing ? (
				<Card>
					<Empty title={t(date ? 'air.nodata.day' : 'air.nodata')}>
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
			<Over where={where} filters={filters} change={change} since={since} />
			<Year where={where} date={date} choose={(chosen) => change({ date: chosen })} since={since} />
			{record.data && <Stations record={record.data} date={date} />}
		</>
	);
}

function Over(props: {
	where: Subject;
	filters: { span?: string; of?: string; by?: string };
	change: (change: { span?: string; of?: string; by?: string }) => void;
	since: JSX.Element;
}): JSX.Element {
	const { where, filters } = props;
	const [table, setTable] = useState(false);
	const shown = shownOf(filters);
	const query = useQuery(history(where, shown.span, shown.step));
	const name = nameOf(shown.figure);
	const series = useMemo(() => [{ name, token: 'ink', dash: [], entries: query.data ?? [] }], [query.data, name]);
	return (
		<Card title={t('air.over')}>
			<Controls shown={shown} change={props.change} />
			<RangedChart query={query} since={props.since}>
				{() => <Lines series={series} shown={shown} table={table} setTable={setTable} />}
			</RangedChart>
		</Card>
	);
}

function Year(props: { where: Subject; date: string | undefined; choose: (date: string) => void; since: JSX.Element }): JSX.Element {
	const query = useQuery(history(props.where, '1y', 'day'));
	const to = today(new Date());
	return (
		<Card title={t('air.calendar')}>
			<RangedChart query={query} since={props.since}>
				{(entries) => (
					<>
						<Legend />
						<Calendar from={before(to, 364)} to={to} entries={entries} chosen={props.date} onChoose={props.choose} />
					</>
				)}
			</RangedChart>
		</Card>
	);
}

/** Since shows the date of the first reading of a place's nearest station. */
function Since(props: { where: Subject }): JSX.Element {
	const record = useRecord(props.where, undefined);
	const id = record.data?.stations[0]?.id;
	const station = useQuery({
		queryKey: ['air', 'station', id],
		queryFn: ({ signal }) => unwrap(api.GET('/v1/stations/{id}', { params: { path: { id: id ?? '' } }, signal })),
		enabled: id !== undefined,
	});
	return station.data ? (
		<p>
			{t('air.since', { station: station.data.name })} <Time at={station.data.first_seen} />
		</p>
	) : (
		<p>{t('air.nodata.hint')}</p>
	);
}
