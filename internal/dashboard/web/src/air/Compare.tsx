import { useQueries, useQueryClient } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { Link, useSearchParams } from 'wouter-preact';
import { Problem } from '../api/client';
import { number } from '../format';
import { cityName, language, t } from '../i18n';
import { Badge, Time } from '../ui/Badge';
import { Deferred } from '../ui/Deferred';
import { Empty, errorMessage, Failed, Fetched, Loading } from '../ui/FetchState';
import { Card, Facts, Page } from '../ui/Page';
import { ShareLink } from '../ui/ShareLink';
import { useFilters } from '../ui/useFilters';
import { useMinute } from '../ui/useNow';
import { ChartError, Controls, Lines, type Series, shownOf } from './AirCharts';
import { Index, RequireScope } from './AirLegend';
import { isStale, lastReported } from './age';
import { pollutants } from './category';
import { credits, type Detail, history, recordKey, useRecord } from './history';
import { cityPath } from './places';
import { Search } from './Search';

const most = 8;

/** The styles of the lines. The colours are distinguishable with colour blindness, and the dashes without colours. */
const styles: readonly { token: string; dash: readonly number[] }[] = [
	{ token: 'line-1', dash: [] },
	{ token: 'line-2', dash: [10, 5] },
	{ token: 'line-3', dash: [2, 4] },
	{ token: 'line-4', dash: [12, 4, 2, 4] },
	{ token: 'line-5', dash: [6, 2] },
	{ token: 'line-6', dash: [2, 2] },
	{ token: 'line-7', dash: [16, 3] },
	{ token: 'line-8', dash: [8, 3, 2, 3, 2, 3] },
];

/** Compare shows up to eight cities next to each other. */
export function Compare(): JSX.Element {
	const [search, setSearch] = useSearchParams();
	const listed = search.getAll('city').join('\n');
	const cities = useMemo(() => [...new Set(listed.split('\n').filter(Boolean))].slice(0, most), [listed]);
	const choose = (names: readonly string[]) =>
		setSearch((old) => {
			const next = new URLSearchParams(old);
			next.delete('city');
			for (const name of names) {
				next.append('city', name);
			}
			return next;
		});
	return (
		<Page title={t('shell.compare')} actions={cities.length > 0 && <ShareLink title={cities.map(cityName).join(', ')} />}>
			<RequireScope>
				<Card>
					{cities.length < most ? (
						<Search label={t('air.add')} pins={false} onCity={(name) => choose([...cities, name])} />
					) : (
						<p class="hint">{t('air.full')}</p>
					)}
				</Card>
				{cities.length === 0 ? (
					<Empty title={t('air.compare.none')}>
						<p>{t('air.compare.hint')}</p>
					</Empty>
				) : (
					<>
						<Together cities={cities} />
						<div class="cards">
							{cities.map((city, index) => (
								<Side
									key={city}
									city={city}
									index={index}
									remove={() => choose(cities.filter((one) => one !== city))}
									replace={(name) => choose(cities.map((one) => (one === city ? name : one)))}
								/>
							))}
						</div>
					</>
				)}
			</RequireScope>
		</Page>
	);
}

/** Dash shows the style of a city's line. */
function Dash(props: { index: number }): JSX.Element {
	const style = styles[props.index];
	return (
		<svg class="dash" style={{ color: `var(--${style?.token})` }} viewBox="0 0 40 8" aria-hidden="true">
			<line x1="0" y1="4" x2="40" y2="4" stroke-dasharray={style?.dash.join(' ')} />
		</svg>
	);
}

function Side(props: { city: string; index: number; remove: () => void; replace: (name: string) => void }): JSX.Element {
	const { city } = props;
	const now = useMinute();
	const query = useRecord(
		useMemo(() => ({ city }), [city]),
		undefined,
	);
	return (
		<section class="card aligned">
			<header class="card-head">
				<h2>
					<Dash index={props.index} /> <Link href={cityPath(city)}>{cityName(city)}</Link>
				</h2>
				<button type="button" class="small quiet" onClick={props.remove}>
					{t('air.remove', { city: cityName(city) })}
				</button>
			</header>
			{!query.data && query.error ? (
				<ChartError
					error={query.error}
					again={() => void query.refetch()}
					choose={(name) => (
						<button type="button" onClick={() => props.replace(name)}>
							{cityName(name)}
						</button>
					)}
				/>
			) : (
				<Fetched query={query}>
					{(record) => (
						<>
							<p>
								<Index aqi={record.aqi} category={record.category} large stale={isStale(record, now)} />
							</p>
							<Facts
								of={[
									[t('air.dominant'), record.dominant],
									[
										t('air.updated'),
										<span key="at">
											<Time at={record.updated} /> {isStale(record, now) && <Badge tone="warn">{lastReported(record.updated, now)}</Badge>}
										</span>,
									],
									...pollutants.map(({ id, name }) => {
										const amount = record[id];
										const text = amount === null ? t('air.unmeasured') : `${number(amount)} ${record.units[id]}`;
										return [name, record.estimated.includes(id) ? `${text} (${t('air.estimated')})` : text] as const;
									}),
									[t('air.attribution'), credits(record.attribution)],
								]}
							/>
						</>
					)}
				</Fetched>
			)}
		</section>
	);
}

/** missing returns the reason why a city has no line. */
function missing(error: Error): string {
	return error instanceof Problem && error.code === 'no_data' ? t('air.nodata') : errorMessage(error);
}

function Together(props: { cities: readonly string[] }): JSX.Element {
	const { cities } = props;
	const [filters, change] = useFilters(['span', 'of', 'by', 'from', 'to']);
	const [table, setTable] = useState(false);
	const shown = shownOf(filters);
	const found = useQueries({ queries: cities.map((city) => history({ city }, shown.period, shown.step)) });
	const client = useQueryClient();
	const credit = () => credits(cities.flatMap((city) => client.getQueryData<Detail>(recordKey({ city }, undefined))?.attribution ?? []));
	const stamp = found.map((one) => one.dataUpdatedAt).join(' ');
	const series: Series[] = useMemo(
		() =>
			cities.map((city, index) => ({
				name: cityName(city),
				token: styles[index]?.token ?? 'ink',
				dash: styles[index]?.dash ?? [],
				entries: found[index]?.data ?? [],
			})),
		[cities, stamp, language.value],
	);
	const failed = found.find((one) => one.error && !one.data);
	const any = series.some((one) => one.entries.length > 0);
	return (
		<Card title={t('air.over')}>
			<Controls shown={shown} change={change} />
			<ul class="legend">
				{cities.map((city, index) => (
					<li key={city}>
						<Dash index={index} /> {cityName(city)}
						{found[index]?.error && !found[index]?.data ? `: ${missing(found[index].error)}` : ''}
					</li>
				))}
			</ul>
			<div class="comparison flow">
				{found.some((one) => one.isPending) ? (
					<Loading />
				) : any ? (
					<Deferred height="22rem">
						{() => <Lines series={series} shown={shown} table={table} setTable={setTable} credit={credit} />}
					</Deferred>
				) : failed ? (
					<Failed error={failed.error} again={() => void failed.refetch()} />
				) : (
					<Empty title={t('air.nodata')}>
						<p>{t('air.nodata.hint')}</p>
					</Empty>
				)}
			</div>
		</Card>
	);
}
