import { expect, test } from 'vitest';
import { beside, corners, type Scores } from './forecast';

type Model = Scores['models'][number];

const model = (name: Model['model'], horizon: number, mae: number): Model => ({
	parameter: 'aqi',
	horizon,
	model: name,
	forecasts: 10,
	served: 10,
	mae,
	rmse: mae,
	bias: 0,
	coverage80: 0.8,
});

test('a model stands beside persistence of the same horizon', () => {
	const rows = beside([
		model('damped_anomaly', 1, 20),
		model('damped_anomaly', 2, 25),
		model('persistence', 2, 27),
		model('climatology', 2, 40),
	]);
	expect(rows.map(({ id, model, persistence }) => [id, model.mae, persistence.mae])).toEqual([['aqi 2', 25, 27]]);
});

test('points are written with one decimal', () => {
	expect(
		corners([
			[1, 2.25],
			[10, 0],
		]),
	).toBe('1.0,2.3 10.0,0.0');
});
