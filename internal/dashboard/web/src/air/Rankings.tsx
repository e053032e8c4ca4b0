import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { today } from '../dates';
import { day, number } from '../format';
import { cityAndState, locale, stateName, stateOptions, t } from '../i18n';
import { hasScope } from '../session';
import { useIdle } from '../ui/Deferred';
import { Empty, Fetched } from '../ui/FetchState';
import { Filter, Select } from '../ui/Field';
import { Card, Page } from '../ui/Page';
import { Segments } from '../ui/Segments';
import { ShareLink } from '../ui/ShareLink';
import { saveFile } from '../ui/saveFile';
import { type Sorted, Table } from '../ui/Table';
import { useFilters } from '../ui/useFilters';
import { few, useNarrow } from '../ui/useNarrow';
import { useMinute } from '../ui/useNow';
import { Index, RequireScope } from './AirLegend';
import {
	begins,
	type Chosen,
	type Column,
	chosenOf,
	moved,
	type Parameter,
	parameters,
	periods,
	type Ranked,
	rankedPath,
	type Sort,
	sorted,
	sortOf,
	tableOf,
	useRanking,
} from './ranking';
import { SaveButtons } from './SaveButtons';
import './rankings.css';

type Filters = ReturnType<typeof useFilters<'period' | 'date' | 'of' | 'order' | 'state' | 'sort'>>;

/** Rankings is the page that ranks the cities: now, or over a day, a month or a year. */
export function Rankings(): JSX.Element {
	const [filters, change] = useFilters(['period', 'date', 'of', 'order', 'state', 'sort']);
	return (
		<Page title={t('shell.rankings')} actions={hasScope('aqi:read') && <ShareLink title={t('shell.rankings')} />}>
			<RequireScope>
				<Shown filters={filters} change={change} />
			</RequireScope>
		</Page>
	);
}

/** parameterName returns the name of what a ranking compares. */
function parameterName(parameter: Parameter): string {
	return parameters.find(([id]) => id === parameter)?.[1] ?? t('air.index');
}

function Shown(props: { filters: Filters[0]; change: Filters[1] }): JSX.Element {
	const { filters, change } = props;
	const now = useMinute();
	const chosen = chosenOf(filters, now);
	const query = useRanking(chosen);
	const { state = '' } = filters;
	const states = useMemo(
		() => [...new Set([...(query.data?.data ?? []).map((row) => row.state), state])].filter(Boolean),
		[query.data, state],
	);
	return (
		<>
			<Card>
				<Controls chosen={chosen} last={today(now)} state={state} states={states} change={change} />
				<p class="hint">{t(chosen.period === 'now' ? 'air.ranking.about.now' : 'air.ranking.about')}</p>
			</Card>
			<Fetched query={query}>{(ranking) => <Rows ranking={ranking} chosen={chosen} filters={filters} change={change} />}</Fetched>
		</>
	);
}

function Controls(props: { chosen: Chosen; last: string; state: string; states: readonly string[]; change: Filters[1] }): JSX.Element {
	const { chosen, last, state, states, change } = props;
	const { period, date, parameter } = chosen;
	// A pollutant, a date and the order of the rows are kept where the new period has them.
	const choose = (next: string) =>
		change({ period: next === 'now' ? '' : next, date: next === 'now' ? '' : date, ...(next !== 'year' && { of: '' }) });
	return (
		<div class="filters paired ranking-filters">
			<Segments label={t('air.span')} value={period} options={periods.map(([id, name]) => [id, t(name)] as const)} change={choose} />
			{period !== 'now' && (
				<div class="stepper">
					<button type="button" onClick={() => change({ date: moved(chosen, -1) })}>
						‹ <span class="step">{t(`air.ranking.before.${period}`)}</span>
					</button>
					<PeriodField period={period} date={date} last={last} change={(day) => change({ date: day })} />
					<button type="button" disabled={moved(chosen, 1) > last} onClick={() => change({ date: moved(chosen, 1) })}>
						<span class="step">{t(`air.ranking.after.${period}`)}</span> ›
					</button>
				</div>
			)}
			{period === 'year' && (
				<Select
					label={t('air.figure')}
					value={parameter}
					options={[['aqi', t('air.index')], ...parameters]}
					change={(of) => change({ of: of === 'aqi' ? '' : of })}
				/>
			)}
			<Select
				label={t('air.ranking.first')}
				value={chosen.order}
				options={[
					['highest', t('air.ranking.highest')],
					['lowest', t('air.ranking.lowest')],
				]}
				change={(order) => change({ order: order === 'highest' ? '' : order })}
			/>
			<Select
				label={t('air.state')}
				value={state}
				options={[['', t('air.india')], ...stateOptions(states)]}
				change={(value) => change({ state: value })}
			/>
		</div>
	);
}

/** inputs are the types of input of periods, and the ends that complete their values to the first day of the period. */
const inputs = { day: ['date', ''], month: ['month', '-01'], year: ['number', '-01-01'] } as const;

/** PeriodField is the field of a day, a month or a year. */
function PeriodField(props: { period: keyof typeof inputs; date: string; last: string; change: (date: string) => void }): JSX.Element {
	const { period, date, last } = props;
	const [type, end] = inputs[period];
	const shown = (day: string) => day.slice(0, day.length - end.length);
	return (
		<Filter
			label={t(`air.ranking.${period}`)}
			type={type}
			value={shown(date)}
			max={shown(last)}
			apply={(value) => props.change(value && value + end)}
		/>
	);
}

type Ranking = NonNullable<ReturnType<typeof useRanking>['data']>;

/** nameOf names a ranking for its heading and its file. */
function nameOf(ranking: Ranking): string {
	const { from, to, parameter, period } = ranking;
	const name = parameterName(parameter);
	if (period === 'now' || !from || !to) {
		return t('air.ranking.title.now', { name });
	}
	// No line breaks a date, or begins with the dash.
	const [first, last] = [from, to].map((date) => day(date).replaceAll(' ', '\u00a0'));
	return from === to ? `${name}, ${first}` : `${name}, ${first}\u00a0– ${last}`;
}

const page = 100;

/** firstRows is the number of rows that are drawn before the page is idle; more than a screen has. */
const firstRows = 20;

function Rows(props: { ranking: Ranking; chosen: Chosen; filters: Filters[0]; change: Filters[1] }): JSX.Element {
	const { ranking, chosen, filters, change } = props;
	const { state = '' } = filters;
	const sort = sortOf(filters.sort);
	const idle = useIdle();
	const rows = useMemo(
		() =>
			sorted(
				ranking.data.filter((row) => !state || row.state === state),
				sort,
				locale.value,
			),
		[ranking, state, filters.sort, locale.value],
	);
	const title = nameOf(ranking);
	const running =
		ranking.to !== undefined && chosen.period !== 'day' && begins(chosen) === moved({ period: chosen.period, date: today(new Date()) }, 0);
	return (
		<Card
			title={title}
			actions={rows.length > 0 && <Save ranking={ranking} rows={rows} name={state ? `${title}, ${stateName(state)}` : title} />}
		>
			<p class="hint" role="status">
				{t('air.count.cities', { count: number(rows.length) })}
				{ranking.unranked > 0 && ` ${t('air.ranking.unranked', { count: number(ranking.unranked) })}`}
				{running && ` ${t('air.ranking.running', { last: day(ranking.to ?? '') })}`}
			</p>
			{rows.length === 0 ? (
				<Empty title={t('air.ranking.none')}>
					<p>{t(state ? 'air.ranking.none.state' : 'air.ranking.none.hint')}</p>
				</Empty>
			) : (
				<List
					key={`${title} ${state} ${filters.sort} ${chosen.order}`}
					ranking={ranking}
					rows={rows}
					sort={sort}
					order={chosen.order}
					change={change}
					idle={idle}
				/>
			)}
		</Card>
	);
}

function List(props: {
	ranking: Ranking;
	rows: readonly Ranked[];
	sort: Sort;
	order: Chosen['order'];
	change: Filters[1];
	idle: boolean;
}): JSX.Element {
	const { ranking, rows, sort, order, change, idle } = props;
	const [most, setMost] = useState(page);
	const narrow = useNarrow();
	const shown = narrow && most === page ? few : most;
	// A click on the column that sorts the rows reverses them. Names begin with A, figures with the highest. A click on the
	// ranks changes the order, so that rank 1 stays at the top.
	const sortable = (by: Column): Sorted => ({
		now: sort.by === by ? (sort.descending ? 'descending' : 'ascending') : undefined,
		toggle: () => {
			if (by === 'rank' && sort.by === 'rank') {
				change({ sort: '', order: order === 'highest' ? 'lowest' : '' });
				return;
			}
			const descending = sort.by === by ? !sort.descending : by === 'stations' || by === 'capture';
			change({ sort: by === 'rank' ? '' : `${descending ? '-' : ''}${by}` });
		},
	});
	const { counted, parameter, unit } = ranking;
	return (
		<div class="ranked">
			<Table
				caption={t('shell.rankings')}
				rows={rows.slice(0, idle || most > page ? shown : firstRows)}
				id={({ city }) => city}
				columns={[
					{ name: t('air.ranking.rank'), figure: true, sort: sortable('rank'), show: ({ rank }) => number(rank) },
					{
						name: t('air.ranking.city'),
						heading: true,
						sort: sortable('city'),
						show: ({ city, state }) => {
							const [name, beside] = cityAndState(city, state);
							return (
								<>
									<Link href={rankedPath(city, ranking)}>{name}</Link> <span class="hint">{beside}</span>
								</>
							);
						},
					},
					parameter === 'aqi'
						? { name: t('air.index'), show: ({ value, category }) => <Index aqi={value} category={category} /> }
						: { name: `${parameterName(parameter)} (${unit})`, figure: true, show: ({ value }) => number(value) },
					{ name: t('air.stations'), figure: true, sort: sortable('stations'), show: ({ stations }) => number(stations) },
					{
						name: t('air.ranking.coverage'),
						figure: true,
						sort: sortable('capture'),
						show: ({ coverage: { count, expected, capture } }) => (
							<>
								{number(Math.round(capture * 1000) / 10)} %
								{(counted !== 'stations' || count !== expected) && (
									<span class="hint"> {t(`air.ranking.${counted}`, { count: number(count), expected: number(expected) })}</span>
								)}
							</>
						),
					},
				]}
			/>
			{rows.length > shown && (
				<button type="button" onClick={() => setMost(most + 2 * page)}>
					{t('state.more')}
				</button>
			)}
		</div>
	);
}

function Save(props: { ranking: Ranking; rows: readonly Ranked[]; name: string }): JSX.Element {
	const save = async () => {
		const { default: Papa } = await import('papaparse');
		const text = Papa.unparse(tableOf(props.ranking, props.rows), { escapeFormulae: true });
		saveFile(new Blob([`${text}\r\n`], { type: 'text/csv' }), `${props.name.replace(/[^\p{L}\p{M}\p{N}.]+/gu, '-')}.csv`);
	};
	return <SaveButtons types={['csv']} save={save} />;
}
