import { readFile } from 'node:fs/promises';
import { expect, inject, test } from 'vitest';
import type { Forecast, Scores } from '../src/air/forecast';
import { number, rows, same } from './air';
import { ask, phone, pictured, signedIn } from './browser';
import { command, indianYesterday, issueRecorded } from './service';

/**
 * issued stores forecasts of Delhi as the forecast job does, for the next days and for the days before yesterday, which
 * have come. The AQI came as it was forecast, or 100 below on every third day.
 */
async function issued(): Promise<void> {
	const sql = (text: string) => command(inject('data'), 'sql', '--mode', 'sandbox', '--write', text);
	await sql(`INSERT INTO forecast (run, place_kind, place, state, parameter, day, horizon, model, served, p10, p50, p90, moderate, poor, very_poor, fitted_at, issued_at)
		SELECT '', 'city', 'Delhi', 'Delhi', parameter, ${indianYesterday} - back + horizon, horizon, model, model = 'damped_anomaly',
			middle * 0.8, middle, middle * 1.2, 0.0, 0.4, 0.6, now() - 3600, toStartOfHour(now()) - back * 86400
		FROM (SELECT arrayJoin([0, 10, 11, 12]) AS back, arrayJoin([1, 2, 3, 4]) AS horizon, arrayJoin(['aqi', 'pm25']) AS parameter,
			arrayJoin(['damped_anomaly', 'persistence']) AS model, if(parameter = 'aqi', 310, 130) + horizon AS middle)`);
	await sql(`INSERT INTO city_day (city, state, day, at, aqi, pm25)
		SELECT 'Delhi', 'Delhi', ${indianYesterday} - number AS d, toDateTime(d, 'UTC') + 66600, if(number % 3 = 0, 210, 312), 120 FROM numbers(6, 8)`);
	await issueRecorded(inject('data'));
	await expect
		.poll(() => ask<Scores>('/v1/forecast/score?city=Delhi').then(({ models }) => models.length), { timeout: 240_000 })
		.toBeGreaterThan(0);
}

const percent = (share: number) => `${number(Math.round(share * 100))} %`;

test('the forecast of a city and its score are those of the API', async () => {
	await issued();
	const { page, faults } = await signedIn('/air/Delhi');
	await page.getByRole('link', { name: 'Forecast', exact: true }).click();
	const fan = page.getByRole('img', { name: 'in 8 of 10 cases' });
	await fan.waitFor();
	const forecast = await ask<Forecast>('/v1/forecast?city=Delhi');
	expect(await fan.locator('circle:not(.measured)').count()).toBe(forecast.days.length);
	await fan.locator('circle.measured').waitFor(); // the present value
	await same(
		async () => (await rows(page.getByRole('region', { name: 'Coming days' }))).map((row) => row.split(' | ').slice(1).join(' | ')),
		async () => {
			// A category that no day is likely to have has no column.
			const words = Object.keys(forecast.days[0]?.categories ?? {}) as (keyof NonNullable<Forecast['days'][number]['categories']>)[];
			const likely = words.filter((word) => forecast.days.some(({ categories }) => Math.round((categories?.[word] ?? 0) * 100) > 0));
			return forecast.days.map(({ aqi, category, categories }) =>
				[
					`${aqi?.p50} ${category}`,
					`${number(Math.round(aqi?.p10 ?? 0))}–${number(Math.round(aqi?.p90 ?? 0))}`,
					...likely.map((word) => (categories ? percent(categories[word]) : '–')),
				].join(' | '),
			);
		},
	);
	const ticks = (await fan.locator('text:not(.tick, .name)').allTextContents()).map(Number);
	const limits = [0, 50, 100, 200, 300, 400, 500];
	expect(ticks).toEqual(limits.slice(0, ticks.length));
	const most = Math.max(...forecast.days.map(({ aqi }) => aqi?.p90 ?? 0));
	expect(ticks.length).toBeGreaterThanOrEqual(limits.filter((limit) => limit <= most).length);
	await page.getByText('How good the forecasts were').click();
	const scores = await ask<Scores>('/v1/forecast/score?city=Delhi');
	const table = await rows(page.getByRole('region', { name: 'Score of the last 90 days' }));
	expect(table.length).toBe(scores.models.filter(({ model, horizon }) => model === 'damped_anomaly' && horizon > 1).length);
	const reliability = await rows(page.getByRole('region', { name: 'Reliability' }));
	expect(reliability).toEqual(
		scores.reliability
			.filter(({ model }) => model === 'damped_anomaly')
			.map((one) => [`index ${one.event}`, percent(one.probability), percent(one.frequency), number(one.forecasts)].join(' | ')),
	);
	await pictured(page, 'air-forecast');
	const days = page.locator('section', { has: page.getByRole('heading', { name: 'Coming days' }) });
	const saved = async (type: string) => {
		const download = page.waitForEvent('download');
		await days.getByRole('button', { name: `Save as ${type}` }).click();
		const file = await download;
		return { name: file.suggestedFilename(), content: await readFile(await file.path()) };
	};
	const csv = await saved('CSV');
	expect(csv.name).toBe('Forecast-of-Delhi-Index-AQI-.csv');
	expect(csv.content.toString('utf8')).toBe(
		[
			'day,90th percentile: Index (AQI),50th percentile: Index (AQI),10th percentile: Index (AQI)',
			...forecast.days.flatMap(({ date, aqi }) => (aqi ? [[date, aqi.p90, aqi.p50, aqi.p10].join(',')] : [])),
			'',
		].join('\r\n'),
	);
	const svg = (await saved('SVG')).content.toString('utf8');
	for (const text of ['Forecast of Delhi, Index (AQI)', '90th percentile', 'Very Poor', 'Issued: ']) {
		expect(svg).toContain(text);
	}
	expect((await saved('PNG')).content.subarray(1, 4).toString('latin1')).toBe('PNG');
	await page.getByLabel('Metric', { exact: true }).selectOption('pm25');
	await page.getByRole('img', { name: /^PM2\.5\. / }).waitFor(); // another chart has its hours
	await page.getByLabel('Metric', { exact: true }).selectOption('o3');
	await page.getByText('no data').waitFor();
	expect(faults).toEqual([]);
});

test('a city without a forecast says why, and the page of all cities has their score', async () => {
	const { page, faults } = await signedIn('/forecast/Mumbai');
	await page.getByText('No forecast available', { exact: true }).waitFor();
	await page.getByRole('link', { name: 'Forecasts', exact: true }).click();
	await page.getByRole('region', { name: 'Score of the last 90 days' }).waitFor();
	await page.getByRole('combobox', { name: 'City' }).fill('Delhi');
	await page.keyboard.press('Enter');
	await page.getByRole('heading', { name: 'Forecast of Delhi' }).waitFor();
	await page.getByRole('link', { name: 'All forecasts' }).click();
	await page.getByRole('heading', { name: 'Forecasts', exact: true }).waitFor();
	expect(faults.filter((fault) => !fault.includes('404'))).toEqual([]);
});

test('on a phone the texts of the fan are readable and its ticks are apart', async () => {
	const { page, faults } = await signedIn('/forecast/Delhi', inject('sandbox'), inject('base'), phone);
	const ticks = page.getByRole('img', { name: 'in 8 of 10 cases' }).locator('.tick');
	await ticks.first().waitFor();
	const boxes = () =>
		ticks.evaluateAll((all) =>
			all.map((one) => one.getBoundingClientRect()).map(({ left, right, top, height }) => ({ left, right, top, height })),
		);
	await expect.poll(async () => Math.min(...(await boxes()).map(({ height }) => height))).toBeGreaterThanOrEqual(12);
	const [first, ...others] = (await boxes()).sort((a, b) => a.top - b.top || a.left - b.left);
	others
		.filter(({ top }) => top === first?.top)
		.reduce((before, next) => {
			expect(next.left).toBeGreaterThan(before.right);
			return next;
		}, first ?? { left: 0, right: 0, top: 0, height: 0 });
	expect(Math.max(...(await boxes()).map(({ right }) => right))).toBeLessThanOrEqual(390);
	expect(faults).toEqual([]);
});
