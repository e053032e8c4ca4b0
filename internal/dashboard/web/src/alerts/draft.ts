import type { Category } from '../air/category';
import type { Schemas } from '../api/client';

/** Alert is an alert of the account. */
export type Alert = Schemas['Alert'];

/** Condition is the condition of an alert. */
export type Condition = Schemas['AlertCondition'];

/** Metric is the value that a condition compares with its limit. */
export type Metric = Condition['metric'];

/** PlaceKind is a way to name a place. */
export type PlaceKind = 'city' | 'pincode' | 'position' | 'station';

/** Comparison is how a condition compares its metric. */
export type Comparison = 'over' | 'under' | 'change';

/** Draft is the content of the form of an alert. All numbers are texts as typed. */
export interface Draft {
	name: string;
	kind: PlaceKind;
	city: string;
	pincode: string;
	lat: string;
	lon: string;
	station: string;
	metric: Metric;
	comparison: Comparison;
	limit: string;
	/** level is the limit of the metric category, and the category of a forecast. */
	level: Category;
	direction: NonNullable<Condition['change']>;
	day: '1' | '2' | '3';
	hysteresis: string;
	interval: string;
	quiet: boolean;
	from: string;
	to: string;
	language: Alert['language'];
}

/** newDraft returns the form of a new alert for a place; {} for none. */
export function newDraft(place: { city?: string; pincode?: string; station?: string }, language: Alert['language']): Draft {
	return {
		name: '',
		kind: kindOf(place),
		city: place.city ?? '',
		pincode: place.pincode ?? '',
		lat: '',
		lon: '',
		station: place.station ?? '',
		metric: 'aqi',
		comparison: 'over',
		limit: '300',
		level: 'Poor',
		direction: 'any',
		day: '1',
		hysteresis: '',
		interval: '',
		quiet: false,
		from: '22:00',
		to: '07:00',
		language,
	};
}

const kindOf = ({ station, pincode, lat }: Partial<Alert['place']>): PlaceKind =>
	station ? 'station' : pincode ? 'pincode' : lat !== undefined ? 'position' : 'city';

/** days are the days of a forecast: 1 is tomorrow. */
export const days = ['1', '2', '3'] as const;

/** draftOf returns the form of an existing alert. */
export function draftOf(alert: Alert): Draft {
	const { place, condition, quiet_hours: quiet } = alert;
	const limit = condition.over ?? condition.under;
	const level = condition.metric === 'category' ? limit : condition.category;
	const typed = (value: number | undefined) => (value ? String(value) : '');
	return {
		name: alert.name,
		kind: kindOf(place),
		city: place.city && place.state && place.city !== place.state ? `${place.city}, ${place.state}` : (place.city ?? ''),
		pincode: place.pincode ?? '',
		lat: place.lat === undefined ? '' : String(place.lat),
		lon: place.lon === undefined ? '' : String(place.lon),
		station: place.station ?? '',
		metric: condition.metric,
		comparison: condition.change ? 'change' : condition.under === undefined ? 'over' : 'under',
		limit: typeof limit === 'number' ? String(limit) : '',
		level: (level as Category | undefined) ?? 'Poor',
		direction: condition.change ?? 'any',
		day: days.find((day) => day === String(condition.day)) ?? '1',
		hysteresis: typed(alert.hysteresis),
		interval: typed(alert.minimum_interval),
		quiet: quiet !== null,
		from: quiet?.from ?? '22:00',
		to: quiet?.to ?? '07:00',
		language: alert.language,
	};
}

/** comparisons returns the comparisons of a metric. */
export function comparisons(metric: Metric): readonly Comparison[] {
	return metric === 'category' || metric === 'grap_band' ? ['over', 'under', 'change'] : ['over', 'under'];
}

/** numberOf converts a typed number. Other texts stay as they are, so that the API reports them at their field. */
function numberOf(text: string): number {
	return (/^\s*[-+]?(\d+\.?\d*|\.\d+)\s*$/.test(text) ? Number(text) : text) as number;
}

function placeOf({ kind, city, pincode, lat, lon, station }: Draft): Schemas['RequestedPlace'] {
	switch (kind) {
		case 'pincode':
			return { pincode: pincode.trim() };
		case 'position':
			return { lat: numberOf(lat), lon: numberOf(lon) };
		case 'station':
			return { station: station.trim() };
		default:
			return { city: city.trim() };
	}
}

function conditionOf(draft: Draft): Condition {
	const { metric, level, direction, day } = draft;
	const comparison = comparisons(metric).includes(draft.comparison) ? draft.comparison : 'over';
	if (comparison === 'change') {
		return { metric, change: direction };
	}
	const limit = metric === 'category' ? level : numberOf(draft.limit);
	return { metric, [comparison]: limit, ...(metric === 'forecast' ? { category: level, day: Number(day) } : {}) };
}

/** Body is the body that creates an alert. */
export type Body = ReturnType<typeof bodyOf>;

/** bodyOf returns the body that creates the alert of a form. */
export function bodyOf(draft: Draft) {
	return {
		name: draft.name.trim(),
		place: placeOf(draft),
		condition: conditionOf(draft),
		hysteresis: numberOf(draft.hysteresis || '0'),
		minimum_interval: numberOf(draft.interval || '0'),
		quiet_hours: draft.quiet ? { from: draft.from, to: draft.to } : null,
		language: draft.language,
	};
}

/**
 * changesOf returns the body that changes an alert to a form. It has only what differs, because the API resolves a
 * place again, and a change of the condition resets the state.
 */
export function changesOf(alert: Alert, draft: Draft): Partial<Body> {
	const old = bodyOf(draftOf(alert));
	const differs = ([field, value]: [string, unknown]) => JSON.stringify(value) !== JSON.stringify(old[field as keyof Body]);
	return Object.fromEntries(Object.entries(bodyOf(draft)).filter(differs));
}
