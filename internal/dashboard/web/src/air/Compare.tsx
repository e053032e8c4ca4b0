import { useQueries, useQueryClient } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { Link, useSearchParams } from 'wouter-preact';
import { Problem } from '../api/client';
import { hundredths } from '../format';
import { cityName, language, t } from '../i18n';
import { hasScope } from '../session';
import { Badge, Time } from '../ui/Badge';
import { Deferred } from '../ui/Deferred';
import { Empty, errorMessage, Failed, Loading } from '../ui/FetchState';
import { Card, Page } from '../ui/Page';
import { ShareLink } from '../ui/ShareLink';
import { Table } from '../ui/Table';
import { useFilters } from '../ui/useFilters';
import { useNarrow } from '../ui/useNarrow';
import { useMinute } from '../ui/useNow';
import { ChartError, Controls, Lines, type Series, shownOf } from './AirCharts';
import { Index, RequireScope } from './AirLegend';
import { isStale, lastReported } from './age';
import { pollutants } from './category';
import { credits, type Detail, history, recordKey, recordOf } from './history';
import { cityPath } from './places';
import { Search } from './Search';
import './compare.css';

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
	// On a phone the figures of the cities are a long list, so the chart stands above it.
	const narrow = useNarrow();
	const together = <Together key="together" cities={cities} />;
	return (
		<Page
			title={t('shell.compare')}
			actions={cities.length > 0 && hasScope('aqi:read') && <ShareLink title={cities.map(cityName).join(', ')} />}
		>
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
						<Unknown cities={cities} replace={(city, name) => choose(cities.map((one) => (one === city ? name : one)))} />
						{narrow && together}
						<Present cities={cities} remove={(city) => choose(cities.filter((one) => one !== city))} />
						{!narrow && together}
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

/** Unknown shows the places that have no record, each with the places of similar names. */
function Unknown(props: { cities: readonly string[]; replace: (city: string, name: string) => void }): JSX.Element | null {
	const { cities } = props;
	const found = useQueries({ queries: cities.map((city) => recordOf({ city }, undefined)) });
	const failed = cities.flatMap((city, index) => {
		const query = found[index];
		return query?.error && !query.data ? [{ city, query, error: query.error }] : [];
	});
	return failed.length === 0 ? null : (
		<Card>
			{failed.map(({ city, query, error }) => (
				<ChartError
					key={city}
					name={city}
					error={error}
					again={() => void query.refetch()}
					choose={(name) => (
						<button type="button" onClick={() => props.replace(city, name)}>
							{cityName(name)}
						</button>
					)}
				/>
			))}
		</Card>
	);
}

/** Present shows the present figures of all places in one table, a row each. */
function Present(props: { cities: readonly string[]; remove: (city: string) => void }): JSX.Element {
	const { cities } = props;
	const now = useMinute();
	const narrow = useNarrow();
	const found = useQueries({ queries: cities.map((city) => recordOf({ city }, undefined)) });
	const rows = cities.map((city, index) => ({ city, index, record: found[index]?.data }));
	const absent = <span class="absent">–</span>;
	return (
		<Card title={t('air.now')} class={found.some((query) => query?.isPending) ? 'compared waiting' : 'compared'}>
			<Table
				caption={t('shell.compare')}
				rows={rows}
				id={({ city }) => city}
				columns={[
					{
						name: t('air.ranking.city'),
						heading: true,
						show: ({ city, index }) => (
							<>
								<Dash index={index} /> <Link href={cityPath(city)}>{cityName(city)}</Link>
							</>
						),
					},
					{
						name: t('air.index'),
						show: ({ record }) => (record ? <Index aqi={record.aqi} category={record.category} stale={isStale(record, now)} /> : absent),
					},
					{ name: t('air.dominant'), show: ({ record }) => record?.dominant ?? absent },
					...pollutants.map(({ id, name, unit }) => ({
						// A phone has a line for each pollutant, with the unit after the value.
						name: narrow ? name : `${name} (${unit})`,
						figure: true,
						show: ({ record }: (typeof rows)[number]) => {
							const amount = record?.[id] ?? null;
							return amount === null ? (
								absent
							) : (
								<>
									{hundredths(amount)}
									{narrow && ` ${unit}`}
									{record?.estimated.includes(id) && <small class="hint"> {t('air.estimated')}</small>}
								</>
							);
						},
					})),
					{
						name: t('air.updated'),
						show: ({ record }) =>
							record && isStale(record, now) ? (
								<Badge tone="warn">{lastReported(record.updated, now)}</Badge>
							) : (
								<Time at={record?.updated} relative />
							),
					},
					{
						name: t('account.key.actions'),
						show: ({ city }) => (
							<button
								type="button"
								class="small quiet"
								onClick={() => props.remove(city)}
								aria-label={t('air.remove', { city: cityName(city) })}
							>
								{t('air.remove.one')}
							</button>
						),
					},
				]}
			/>
			<p class="hint">
				{t('air.attribution')}: {credits(rows.flatMap(({ record }) => record?.attribution ?? []))}
			</p>
		</Card>
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
