import { useQuery } from '@tanstack/preact-query';
import type { operations } from '../../made/schema';
import { api, unwrap } from '../api/client';

/** Forecast is the reply with the forecast of a place. */
export type Forecast = operations['getForecast']['responses'][200]['content']['application/json'];

/** Scores is the reply with the scores of the forecasts of a city, or of all cities. */
export type Scores = operations['getForecastScore']['responses'][200]['content']['application/json'];

/** Percentiles are the percentiles of the forecast of one figure for a day. */
export type Percentiles = Pick<NonNullable<Forecast['days'][number]['aqi']>, 'p10' | 'p50' | 'p90'>;

// Forecasts are issued once a day.
const staleTime = 600_000;

/** useForecast fetches the days after today and the hours after now of a city. */
export function useForecast(city: string) {
	return useQuery({
		queryKey: ['air', 'forecast', city],
		queryFn: ({ signal }) => unwrap(api.GET('/v1/forecast', { params: { query: { city, hours: 48 } }, signal })),
		staleTime,
	});
}

/** useScores fetches the score of a city, or of all cities. */
export function useScores(city: string | undefined) {
	return useQuery({
		queryKey: ['air', 'forecast score', city ?? ''],
		queryFn: ({ signal }) => unwrap(api.GET('/v1/forecast/score', { params: { query: city === undefined ? {} : { city } }, signal })),
		staleTime,
	});
}

/** Point is a corner of a drawing. */
export type Point = readonly [x: number, y: number];

/** corners writes points as SVG does. */
export function corners(points: readonly Point[]): string {
	return points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ');
}

/** Beside has the error of a model and the error of persistence. */
export interface Beside {
	id: string;
	parameter: Scores['models'][number]['parameter'];
	horizon: number;
	model: Scores['models'][number];
	persistence: Scores['models'][number];
}

/**
 * beside returns the errors of the damped anomaly and of persistence, for each figure and horizon that both have. Horizon 1 is
 * the day of the issue, which no page shows.
 */
export function beside(models: Scores['models']): Beside[] {
	return models
		.filter(({ model, horizon }) => model === 'damped_anomaly' && horizon > 1)
		.flatMap((model) => {
			const { parameter, horizon } = model;
			const persistence = models.find((one) => one.model === 'persistence' && one.parameter === parameter && one.horizon === horizon);
			return persistence ? [{ id: `${parameter} ${horizon}`, parameter, horizon, model, persistence }] : [];
		});
}
