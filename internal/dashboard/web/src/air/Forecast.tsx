import type { ComponentProps, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { Problem } from '../api/client';
import { days as daysText, instant, number, signed, tenths, weekday } from '../format';
import { cityName, t } from '../i18n';
import { Time } from '../ui/Badge';
import { Empty, Fetched } from '../ui/FetchState';
import { Select } from '../ui/Field';
import { Card, Facts, Page } from '../ui/Page';
import { Table } from '../ui/Table';
import { useMinute } from '../ui/useNow';
import { nameOf, unitOf } from './AirCharts';
import { Index, RequireScope, titleOf } from './AirLegend';
import { isStale } from './age';
import { bands, type Figure, figureOf, pollutants } from './category';
import { Fan } from './Fan';
import { beside, type Forecast, type Percentiles, useForecast, useScores } from './forecast';
import { useRecord } from './history';
import { cityPath, decoded, forecastPath } from './places';
import { Reliability } from './Reliability';
import { SaveChart } from './SaveChart';
import { Search } from './Search';
import type { Step } from './series';
import { stamp } from './stamp';

/** Forecasts is the page on which a city is chosen, with the score of all cities. */
export function Forecasts(): JSX.Element {
	const [, go] = useLocation();
	return (
		<Page title={t('shell.forecast')}>
			<RequireScope>
				<p>{t('air.forecast.about')}</p>
				<Card>
					<Search pins={false} onCity={(name) => go(forecastPath(name))} />
				</Card>
				<Score city={undefined} />
			</RequireScope>
		</Page>
	);
}

/** CityForecast is the page with the next days of a city, and their score. */
export function CityForecast(props: Record<string, string>): JSX.Element {
	const city = decoded(props.city ?? '');
	return (
		<Page
			title={t('air.forecast.of', { city: cityName(city) })}
			actions={
				<>
					<Link href={cityPath(city)}>{t('air.now')}</Link>
					<Link href="/forecast">{t('air.forecast.all')}</Link>
				</>
			}
		>
			<RequireScope>
				<Days city={city} />
				<details class="forecast-more">
					<summary>{t('air.forecast.good')}</summary>
					<Score city={city} />
				</details>
			</RequireScope>
		</Page>
	);
}

/** midnight returns the beginning of an Indian day, in seconds. */
const midnight = (date: string) => Date.parse(`${date}T00:00:00+05:30`) / 1000;

/** Save saves the percentiles of the next days or hours, as the chart shows them. */
function Save(props: {
	of: readonly { at: number; of: Percentiles }[];
	figure: Figure;
	step: Step;
	title: string;
	issued: string | null;
}): JSX.Element {
	const { figure } = props;
	const lines = percentiles.map(([id, dash]) => ({
		...{ name: t(`air.forecast.${id}`), token: 'ink', dash },
		...{ xs: props.of.map(({ at }) => at), ys: props.of.map(({ of }) => of[id]) },
	}));
	return (
		<div class="actions">
			<SaveChart
				lines={lines}
				figure={figure}
				unit={unitOf(figure)}
				step={props.step}
				title={`${props.title}, ${nameOf(figure)}`}
				name={nameOf(figure)}
				credit={() => (props.issued ? `${t('air.forecast.issued')}: ${instant(props.issued)}` : '')}
				banded
			/>
		</div>
	);
}

/** percentiles are the lines of a saved forecast, the middle one without dashes. */
const percentiles = [
	['p90', [8, 4]],
	['p50', []],
	['p10', [2, 4]],
] as const;

function Days(props: { city: string }): JSX.Element {
	const query = useForecast(props.city);
	if (!query.data && query.error instanceof Problem && query.error.code === 'no_data') {
		return (
			<Card>
				<Empty title={t('air.forecast.none')}>
					<p>{query.error.message}</p>
				</Empty>
			</Card>
		);
	}
	return (
		<Fetched query={query}>
			{(forecast) => (
				<>
					<Shown forecast={forecast} />
					{forecast.hourly && <Hours of={forecast.hourly} city={forecast.city} />}
				</>
			)}
		</Fetched>
	);
}

/** Made has the facts about the model of a forecast behind a heading that opens. */
function Made(props: { of: ComponentProps<typeof Facts>['of']; score: Forecast['score'] | undefined }): JSX.Element {
	const { score } = props;
	return (
		<details class="forecast-more">
			<summary>{t('air.forecast.made')}</summary>
			<Facts
				of={[
					...props.of,
					[t('air.forecast.error'), score && tenths(score.mae)],
					[t('air.forecast.error.persistence'), score && tenths(score.persistence_mae)],
				]}
			/>
		</details>
	);
}

/** Issued says when a forecast was issued. */
function Issued(props: { at: string | null }): JSX.Element | null {
	return props.at === null ? null : (
		<p class="hint">
			{t('air.forecast.issued')}: <Time at={props.at} />
		</p>
	);
}

/** interval writes the likely range of an index. */
const interval = ({ p10, p90 }: Percentiles) => `${number(Math.round(p10))}–${number(Math.round(p90))}`;

function Shown(props: { forecast: Forecast }): JSX.Element {
	const { days, score, issued_at: issued, fitted_at: fitted, model, reason } = props.forecast;
	const [figure, setFigure] = useState<Figure>('aqi');
	const minute = useMinute();
	const present = useRecord({ city: props.forecast.city }, undefined).data;
	const now = (present && !isStale(present, minute) && present[figure]) ?? undefined;
	const drawn = days.flatMap((day) => {
		const of = day[figure];
		return of ? [{ name: weekday(day.date), at: midnight(day.date), of }] : [];
	});
	const unit = figure === 'aqi' ? '' : unitOf(figure);
	// A category that no day is likely to have has no column.
	const likely = bands.filter(({ word }) => days.some(({ categories }) => categories && Math.round(categories[word] * 100) > 0));
	const label = drawn.map(({ name, of }) =>
		t('air.forecast.day', { day: name, low: number(of.p10), middle: number(of.p50), high: number(of.p90), unit }),
	);
	return (
		<Card title={t('air.forecast.next')}>
			<Table
				caption={t('air.forecast.next')}
				compact
				rows={days}
				id={(day) => day.date}
				columns={[
					{ name: t('air.day'), show: (day) => weekday(day.date) },
					{ name: t('air.index'), show: (day) => <Index aqi={day.aqi?.p50 ?? null} category={day.category} /> },
					{
						name: t('air.forecast.interval'),
						figure: true,
						phone: 'labelled',
						show: (day) => (day.aqi ? interval(day.aqi) : '–'),
					},
					...likely.map(({ word, name }) => ({
						name: t('air.forecast.chance', { category: t(name) }),
						figure: true,
						phone: 'labelled' as const,
						show: (day: Forecast['days'][number]) => (day.categories ? `${number(Math.round(day.categories[word] * 100))} %` : '–'),
					})),
				]}
			/>
			<Issued at={issued} />
			<div class="filters">
				<Select
					label={t('air.figure')}
					value={figure}
					options={[['aqi', t('air.index')], ...pollutants.map(({ id, name }) => [id, name] as const)]}
					change={(of) => setFigure(figureOf(of))}
				/>
			</div>
			{drawn.length > 0 ? (
				<Fan
					days={drawn}
					now={now || undefined}
					step="day"
					figure={figure}
					unit={unit}
					label={[`${nameOf(figure)}.`, now && `${t('air.now')}: ${number(now)} ${unit}.`, ...label].filter(Boolean).join(' ')}
				/>
			) : (
				<Empty title={t('air.nofigure')} />
			)}
			<p class="hint">{t('air.forecast.hint')}</p>
			{drawn.length > 0 && (
				<Save of={drawn} figure={figure} step="day" title={t('air.forecast.of', { city: cityName(props.forecast.city) })} issued={issued} />
			)}
			<Made
				of={[
					[t('air.forecast.model'), t(`air.forecast.model.${model}`)],
					[t('air.forecast.why'), reason && t(`air.forecast.reason.${reason}`)],
					[t('air.forecast.fitted'), fitted && <Time key="fitted" at={fitted} />],
				]}
				score={score}
			/>
		</Card>
	);
}

function Hours(props: { of: NonNullable<Forecast['hourly']>; city: string }): JSX.Element | null {
	const { hours, score, issued_at: issued } = props.of;
	const [first, last] = [hours[0], hours.at(-1)];
	if (!first || !last) {
		return null;
	}
	const name = (at: string) => stamp(Date.parse(at) / 1000, 'hour');
	const drawn = hours.map(({ at, pm25 }) => ({ at: Date.parse(at) / 1000, of: pm25 }));
	const unit = unitOf('pm25');
	const most = hours.reduce((worst, hour) => (hour.pm25.p50 > worst.pm25.p50 ? hour : worst), first);
	const label = t('air.forecast.hours.label', {
		from: name(first.at),
		to: name(last.at),
		most: number(most.pm25.p50),
		unit,
		at: name(most.at),
	});
	return (
		<Card title={t('air.forecast.hours')}>
			<Issued at={issued} />
			<Fan days={drawn} step="hour" figure="pm25" unit={unit} label={label} />
			<p class="hint">{t('air.forecast.hours.hint')}</p>
			<Save of={drawn} figure="pm25" step="hour" title={t('air.forecast.of', { city: cityName(props.city) })} issued={issued} />
			{score && <Made of={[]} score={score} />}
		</Card>
	);
}

function Score(props: { city: string | undefined }): JSX.Element {
	const query = useScores(props.city);
	if (!query.data && query.error instanceof Problem && query.error.code === 'no_data') {
		return (
			<Card title={t('air.forecast.score')}>
				<Empty title={t('air.forecast.noscore')} />
			</Card>
		);
	}
	return (
		<Fetched query={query}>
			{({ models, reliability }) => (
				<>
					<Card title={t('air.forecast.score')}>
						<p class="hint">{t('air.forecast.score.hint')}</p>
						{models.length === 0 ? (
							<Empty title={t('air.forecast.noscore')} />
						) : (
							<Table
								caption={t('air.forecast.score')}
								compact
								rows={beside(models)}
								id={({ id }) => id}
								columns={[
									{ name: t('air.figure'), show: ({ parameter }) => titleOf(parameter) },
									{ name: t('air.forecast.horizon'), figure: true, phone: 'top', show: ({ horizon }) => daysText(horizon - 1) },
									{ name: t('air.forecast.error'), figure: true, phone: 'labelled', show: ({ model }) => tenths(model.mae) },
									{
										name: t('air.forecast.error.persistence'),
										figure: true,
										phone: 'labelled line',
										show: ({ persistence }) => tenths(persistence.mae),
									},
									{ name: t('air.forecast.bias'), figure: true, phone: 'labelled end', show: ({ model }) => signed(model.bias) },
									{
										name: t('air.forecast.covered'),
										figure: true,
										phone: 'labelled',
										show: ({ model }) => `${number(Math.round(model.coverage80 * 100))} %`,
									},
									{ name: t('air.forecast.forecasts'), figure: true, phone: 'labelled end', show: ({ model }) => number(model.forecasts) },
								]}
							/>
						)}
					</Card>
					{reliability.length > 0 && (
						<Card title={t('air.forecast.reliability')}>
							<p class="hint">{t('air.forecast.reliability.hint')}</p>
							<Reliability of={reliability} />
						</Card>
					)}
				</>
			)}
		</Fetched>
	);
}
