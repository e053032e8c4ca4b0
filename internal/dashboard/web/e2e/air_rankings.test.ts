import { readFile } from 'node:fs/promises';
import { beforeAll, expect, inject, test } from 'vitest';
import type { Ranked } from '../src/air/ranking';
import { dayBefore, number, rows, same } from './air';
import { ask, phone, pictured, signedIn } from './browser';
import { command } from './service';

interface Ranking {
	data: Ranked[];
	from?: string;
	to?: string;
	unranked: number;
}

/** month is a complete month of which only the tests have figures. */
const month = '2019-04';

beforeAll(async () => {
	const figures = [
		['Delhi', 'Delhi', 30, 310],
		['Mumbai', 'Maharashtra', 27, 120],
		['Pune', 'Maharashtra', 30, 120],
		['Chennai', 'Tamil Nadu', 12, 90],
	] as const;
	for (const [city, state, days, aqi] of figures) {
		await command(
			inject('data'),
			...['sql', '--mode', 'sandbox', '--write'],
			`INSERT INTO city_day (city, state, day, at, aqi, pm25, stations_used, stations_total)
				SELECT '${city}', '${state}', toDate('${month}-01') + number AS d, toDateTime(d, 'UTC') + 66600, ${aqi}, 40, 3, 3 FROM numbers(${days})`,
		);
	}
});

const ranking = (query: string) => ask<Ranking>(`/v1/rankings?limit=1000&${query}`);

/** lines returns the lines that the table should show. */
function lines(data: readonly Ranked[], counted: string): string[] {
	return data.map(({ rank, city, state, value, category, stations, coverage: { count, expected, capture } }) =>
		[
			number(rank),
			city === state ? `${city} ` : `${city.replace(`, ${state}`, '')} ${state}`,
			`${value} ${category}`,
			number(stations),
			`${number(Math.round(capture * 1000) / 10)} %${counted === 'stations' && count === expected ? '' : ` ${number(count)} of ${number(expected)} ${counted}`}`,
		].join(' | '),
	);
}

test('the cities are ranked as by the API, now and over a month, and the address keeps the choice', async () => {
	const { page, faults } = await signedIn();
	await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Rankings' }).click();
	const table = page.getByRole('region', { name: 'Rankings' });
	const shown = () => rows(table);
	const widths = () =>
		table.getByRole('columnheader').evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().width)));
	await same(shown, async () => lines((await ranking('period=now')).data.slice(0, 100), 'stations'));
	const before = await widths();
	await pictured(page, 'air-rankings');
	await page.getByLabel('Order', { exact: true }).selectOption('lowest');
	await same(shown, async () => lines((await ranking('period=now&order=lowest')).data.slice(0, 100), 'stations'));

	await page.goto(`/dashboard/rankings?period=month&date=${month}-15`);
	const there = await ranking(`period=month&date=${month}-15`);
	expect(there.data.map(({ rank, city }) => `${rank} ${city}`)).toEqual(['1 Delhi', '2 Mumbai', '2 Pune']);
	expect(there.unranked).toBe(1);
	await same(shown, async () => lines(there.data, 'days'));
	expect(await widths(), 'the columns have the same widths with other rows').toEqual(before);
	await page.getByText('Not ranked, because of too little data: 1.').waitFor();
	await page.getByRole('heading', { name: 'Index (AQI), 1 Apr 2019 – 30 Apr 2019' }).waitFor();
	await pictured(page, 'air-rankings-month');
	await page.getByLabel('State', { exact: true }).selectOption('Maharashtra');
	await same(shown, async () => lines(there.data.slice(1), 'days'));
	await page.reload();
	await same(shown, async () => lines(there.data.slice(1), 'days'));
	await page.getByRole('button', { name: /^Coverage/ }).click();
	await same(shown, async () => lines([...there.data.slice(1)].reverse(), 'days'));

	await page.getByRole('button', { name: 'Previous month' }).click();
	await page.getByText('No cities are ranked').waitFor();
	expect(new URL(page.url()).searchParams.get('date')).toBe('2019-03-01');
	await page.getByRole('button', { name: 'Next month' }).click();
	await table.getByRole('link', { name: 'Pune' }).click();
	await page.getByRole('heading', { name: 'Pune', exact: true }).waitFor();
	expect(new URL(page.url()).search).toBe(`?span=range&from=${month}-01&to=${month}-30&by=day`);
	expect(faults).toEqual([]);
});

test('the saved file has the rows of the page', async () => {
	const { page } = await signedIn(`/rankings?period=month&date=${month}-15&state=Maharashtra&sort=-city`);
	const download = page.waitForEvent('download');
	await page.getByRole('button', { name: 'Save as CSV' }).click();
	const file = await download;
	expect(file.suggestedFilename()).toBe('Index-AQI-1-Apr-2019-30-Apr-2019-Maharashtra.csv');
	expect(await readFile(await file.path(), 'utf8')).toBe(
		[
			'period,from,to,parameter,unit,rank,city,state,value,category,stations,counted,count,expected,capture',
			`month,${month}-01,${month}-30,aqi,,2,Pune,Maharashtra,120,Moderate,3,days,30,30,1`,
			`month,${month}-01,${month}-30,aqi,,2,Mumbai,Maharashtra,120,Moderate,3,days,27,30,0.9`,
			'',
		].join('\r\n'),
	);
});

test('the keyboard reaches every control on a phone, and Hindi has all texts', async () => {
	const { page, faults } = await signedIn(`/rankings?period=day&date=${dayBefore(1)}`, inject('sandbox'), inject('base'), phone);
	await page.getByRole('button', { name: 'Day', exact: true, pressed: true }).waitFor();
	await page.getByRole('button', { name: 'Year', exact: true }).focus();
	await page.keyboard.press('Enter');
	await page.getByLabel('Metric', { exact: true }).selectOption('pm25');
	await expect.poll(() => new URL(page.url()).searchParams.get('of')).toBe('pm25');
	await page.getByRole('button', { name: 'Now', exact: true }).focus();
	await page.keyboard.press('Space');
	await page.getByRole('button', { name: /^Rank/ }).focus();
	await page.keyboard.press('Enter');
	await expect.poll(() => new URL(page.url()).searchParams.get('order')).toBe('lowest');
	await page.getByRole('button', { name: 'Menu' }).click();
	await page.getByLabel('Language').selectOption('hi');
	await page.getByRole('heading', { name: 'शहरों का क्रम' }).waitFor();
	await page.getByRole('button', { name: 'मेनू' }).click();
	expect(faults).toEqual([]);
	// A wide window shows up to 100 rows. The picture is taken when all of them are drawn.
	const wide = await signedIn('/rankings?order=lowest');
	await wide.page.getByRole('navigation', { name: 'Main' }).getByLabel('Language').selectOption('hi');
	const all = Math.min(100, (await ranking('period=now&order=lowest')).data.length);
	await expect.poll(() => wide.page.getByRole('region', { name: 'शहरों का क्रम' }).locator('tbody tr').count()).toBe(all);
	await pictured(wide.page, 'air-rankings-hindi');
	expect(wide.faults).toEqual([]);
});
