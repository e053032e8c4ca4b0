import { useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import { bands } from '../air/category';
import { api, unwrap } from '../api/client';
import { cityName, stateBeside, t } from '../i18n';
import { hasScope } from '../session';
import { Check, Field, Radios, Select } from '../ui/Field';
import { Card } from '../ui/Page';
import { useSettled } from '../ui/useSettled';
import { alertLanguages, categoryName, limitHint, metricName, metrics } from './describe';
import { type Comparison, comparisons, type Draft, days, type PlaceKind } from './draft';
import './alerts.css';

type Part = { draft: Draft; change: (changed: Partial<Draft>) => void };

/** AlertFields has the fields of the form of an alert. Their names are the fields of the API. */
export function AlertFields(props: Part): JSX.Element {
	return (
		<>
			<Place {...props} />
			<ConditionFields {...props} />
			<Options {...props} />
		</>
	);
}

const kinds: readonly PlaceKind[] = ['city', 'pincode', 'position', 'station'];

function Place({ draft, change }: Part): JSX.Element {
	return (
		<Card title={t('alerts.place')}>
			<Radios
				label={t('alerts.place.kind')}
				value={draft.kind}
				options={kinds.map((kind) => [kind, t(`alerts.place.${kind}`)] as const)}
				change={(kind) => change({ kind })}
			/>
			{draft.kind === 'city' && <City draft={draft} change={change} />}
			{draft.kind === 'pincode' && (
				<Field
					label={t('alerts.place.pincode')}
					hint={t('alerts.place.pincode.hint')}
					name="place.pincode"
					inputMode="numeric"
					value={draft.pincode}
					change={(pincode) => change({ pincode })}
				/>
			)}
			{draft.kind === 'position' && (
				<div class="alerts-row">
					<Field
						label={t('alerts.place.lat')}
						hint={t('alerts.place.lat.hint')}
						name="place.lat"
						inputMode="decimal"
						value={draft.lat}
						change={(lat) => change({ lat })}
					/>
					<Field
						label={t('alerts.place.lon')}
						hint={t('alerts.place.lon.hint')}
						name="place.lon"
						inputMode="decimal"
						value={draft.lon}
						change={(lon) => change({ lon })}
					/>
				</div>
			)}
			{draft.kind === 'station' && (
				<Field
					label={t('alerts.place.station')}
					hint={t('alerts.place.station.hint')}
					name="place.station"
					value={draft.station}
					change={(station) => change({ station })}
				/>
			)}
		</Card>
	);
}

/** City is the name of a city, with suggestions if the key may read the air. */
function City({ draft, change }: Part): JSX.Element {
	const list = useId();
	const typed = useSettled(draft.city.trim(), 150);
	const { data } = useQuery({
		queryKey: ['air', 'search', typed],
		queryFn: ({ signal }) => unwrap(api.GET('/v1/cities', { params: { query: { q: typed, limit: 8 } }, signal })),
		enabled: typed !== '' && !/^\d/.test(typed) && hasScope('aqi:read'),
	});
	return (
		<>
			<Field
				label={t('alerts.place.city')}
				hint={t('alerts.place.city.hint')}
				name="place.city"
				list={list}
				value={draft.city}
				change={(city) => change({ city })}
			/>
			<datalist id={list}>
				{data?.data.map(({ name, state }) => (
					<option key={name} value={name}>
						{[cityName(name), stateBeside(name, state)].filter(Boolean).join(', ')}
					</option>
				))}
			</datalist>
		</>
	);
}

function ConditionFields({ draft, change }: Part): JSX.Element {
	const { metric } = draft;
	const offered = comparisons(metric);
	const comparison: Comparison = offered.includes(draft.comparison) ? draft.comparison : 'over';
	const levels = bands.map(({ word }) => [word, categoryName(word)] as const);
	return (
		<Card title={t('alerts.condition')}>
			<div class="alerts-row">
				<Select
					label={t('alerts.metric')}
					name="condition.metric"
					value={metric}
					options={metrics.map((one) => [one, metricName(one)] as const)}
					change={(one) => change({ metric: one })}
				/>
				<Select
					label={t('alerts.comparison')}
					value={comparison}
					options={offered.map((one) => [one, t(`alerts.comparison.${one}`)] as const)}
					change={(one) => change({ comparison: one })}
				/>
				{comparison === 'change' && (
					<Select
						label={t('alerts.direction')}
						name="condition.change"
						value={draft.direction}
						options={(['any', 'worse', 'better'] as const).map((one) => [one, t(`alerts.direction.${one}`)] as const)}
						change={(direction) => change({ direction })}
					/>
				)}
				{comparison !== 'change' && metric === 'category' && (
					<Select
						label={t('alerts.limit')}
						name={`condition.${comparison}`}
						value={draft.level}
						options={levels}
						change={(level) => change({ level })}
					/>
				)}
				{comparison !== 'change' && metric !== 'category' && (
					<Field
						label={t('alerts.limit')}
						hint={limitHint(metric)}
						name={`condition.${comparison}`}
						inputMode="decimal"
						value={draft.limit}
						change={(limit) => change({ limit })}
					/>
				)}
			</div>
			{metric === 'forecast' && (
				<div class="alerts-row">
					<Select
						label={t('alerts.forecast.category')}
						name="condition.category"
						value={draft.level}
						options={levels}
						change={(level) => change({ level })}
					/>
					<Select
						label={t('alerts.forecast.day')}
						name="condition.day"
						value={draft.day}
						options={days.map((day) => [day, t(`alerts.forecast.day.${day}`)] as const)}
						change={(day) => change({ day })}
					/>
				</div>
			)}
			{metric === 'grap_band' && <p class="hint">{t('alerts.grap.note')}</p>}
		</Card>
	);
}

function Options({ draft, change }: Part): JSX.Element {
	return (
		<Card title={t('alerts.options')}>
			<Field label={t('alerts.name')} hint={t('alerts.name.hint')} name="name" value={draft.name} change={(name) => change({ name })} />
			<div class="alerts-row">
				<Field
					label={t('alerts.hysteresis')}
					hint={t('alerts.hysteresis.hint')}
					name="hysteresis"
					inputMode="decimal"
					placeholder="0"
					value={draft.hysteresis}
					change={(hysteresis) => change({ hysteresis })}
				/>
				<Field
					label={t('alerts.interval')}
					hint={t('alerts.interval.hint')}
					name="minimum_interval"
					placeholder="0"
					value={draft.interval}
					change={(interval) => change({ interval })}
				/>
				<Select
					label={t('alerts.language')}
					name="language"
					value={draft.language}
					options={alertLanguages}
					change={(language) => change({ language })}
				/>
			</div>
			<Check checked={draft.quiet} change={(quiet) => change({ quiet })}>
				{t('alerts.quiet')}
				<span class="hint">{t('alerts.quiet.hint')}</span>
			</Check>
			{draft.quiet && (
				<div class="alerts-row">
					<Field
						label={t('alerts.quiet.from')}
						name="quiet_hours.from"
						type="time"
						value={draft.from}
						change={(from) => change({ from })}
					/>
					<Field label={t('alerts.quiet.to')} name="quiet_hours.to" type="time" value={draft.to} change={(to) => change({ to })} />
				</div>
			)}
		</Card>
	);
}
