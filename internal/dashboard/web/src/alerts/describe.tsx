import type { JSX } from 'preact';
import { bandOf, pollutants } from '../air/category';
import { number } from '../format';
import { cityName, locale, t } from '../i18n';
import { Badge } from '../ui/Badge';
import { span } from '../webhooks/eventTypes';
import type { Alert, Condition, Metric } from './draft';

/** metrics are the metrics of conditions in the order of the form. */
export const metrics: readonly Metric[] = ['aqi', 'pm25', 'pm10', 'no2', 'so2', 'co', 'o3', 'category', 'grap_band', 'age', 'forecast'];

/** alertLanguages are the languages of the events, each with its own name. */
export const alertLanguages: readonly (readonly [Alert['language'], string])[] = [
	['en', 'English'],
	['hi', 'हिन्दी'],
	['bn', 'বাংলা'],
	['gu', 'ગુજરાતી'],
	['kn', 'ಕನ್ನಡ'],
	['ml', 'മലയാളം'],
	['mr', 'मराठी'],
	['pa', 'ਪੰਜਾਬੀ'],
	['ta', 'தமிழ்'],
	['te', 'తెలుగు'],
];

const pollutantOf = (metric: Metric) => pollutants.find(({ id }) => id === metric);

/** metricName returns the name of a metric. */
export function metricName(metric: Metric): string {
	switch (metric) {
		case 'aqi':
			return t('alerts.metric.aqi');
		case 'category':
			return t('alerts.metric.category');
		case 'grap_band':
			return t('alerts.metric.grap_band');
		case 'age':
			return t('alerts.metric.age');
		case 'forecast':
			return t('alerts.metric.forecast');
		default:
			return pollutantOf(metric)?.name ?? metric;
	}
}

/** limitHint describes the values of a metric. */
export function limitHint(metric: Metric): string {
	const pollutant = pollutantOf(metric);
	if (pollutant) {
		return t('alerts.limit.hint.amount', { unit: pollutant.unit });
	}
	switch (metric) {
		case 'grap_band':
			return t('alerts.limit.hint.grap_band');
		case 'age':
			return t('alerts.limit.hint.age');
		case 'forecast':
			return t('alerts.limit.hint.forecast');
		default:
			return t('alerts.limit.hint.aqi');
	}
}

/** categoryName returns the name of a category in the current language. */
export function categoryName(category: unknown): string {
	const band = bandOf(typeof category === 'string' ? category : undefined);
	return band ? t(band.name) : String(category);
}

/** valueText returns a value of a metric with its unit. */
export function valueText(metric: Metric, value: unknown): string {
	if (typeof value !== 'number') {
		return metric === 'category' ? categoryName(value) : String(value);
	}
	switch (metric) {
		case 'age':
			return span(value, locale.value);
		case 'forecast':
			return `${number(Math.round(value * 1000) / 10)} %`;
		default: {
			const unit = pollutantOf(metric)?.unit;
			return unit ? `${number(value)} ${unit}` : number(value);
		}
	}
}

/** conditionText describes a condition. */
export function conditionText(condition: Condition): string {
	const { metric, over, under, change, category, day } = condition;
	const name = metric === 'forecast' ? t('alerts.forecast.of', { category: categoryName(category), day: day ?? 1 }) : metricName(metric);
	if (change) {
		return t(`alerts.text.${change}`, { metric: name });
	}
	return over !== undefined
		? t('alerts.text.over', { metric: name, limit: valueText(metric, over) })
		: t('alerts.text.under', { metric: name, limit: valueText(metric, under) });
}

/** placeText names the place of an alert. */
export function placeText(place: Alert['place']): string {
	if (place.pincode) {
		return `${t('air.pin', { pin: place.pincode })} (${cityName(place.name)})`;
	}
	if (place.lat !== undefined && place.lon !== undefined) {
		return `${number(place.lat)}, ${number(place.lon)} (${cityName(place.name)})`;
	}
	return cityName(place.name);
}

/** title returns the name of an alert, or its place if it has none. */
export function title(alert: Alert): string {
	return alert.name || placeText(alert.place);
}

/** AlertBadge shows the state of an alert. */
export function AlertBadge(props: { alert: Pick<Alert, 'active' | 'state'> }): JSX.Element {
	const { active, state } = props.alert;
	if (!active) {
		return <Badge tone="quiet">{t('alerts.state.paused')}</Badge>;
	}
	return <Badge tone={state === 'triggered' ? 'bad' : 'good'}>{t(`alerts.state.${state}`)}</Badge>;
}
