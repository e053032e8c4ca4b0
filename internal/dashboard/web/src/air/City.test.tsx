import { notifyManager, QueryClient, QueryClientProvider } from '@tanstack/preact-query';
import { act, fireEvent, render, screen, within } from '@testing-library/preact';
import { beforeEach, expect, test, vi } from 'vitest';
import { api, withKey } from '../api/client';
import { before, today } from '../dates';
import { showLanguage } from '../i18n';
import { sessionState } from '../session';
import { City } from './City';

type Query = Record<string, string | undefined>;

const day = 86_400_000;
const requests: Query[] = [];
const state = { status: 200, code: '', message: '', age: 0, readings: ['2010-03-01', '2020-07-01'], days: [] as string[] };

/** record returns the record of Chennai, whose figures are state.age days old. */
function record(date: string | undefined) {
	const updated = new Date(Date.now() - state.age * day).toISOString();
	return {
		...{ status: 'success', city: 'Chennai', state: 'Tamil Nadu', aqi: 302, category: 'Very Poor', dominant: 'PM2.5', updated },
		...{ pm25: 150, pm10: 200, no2: 20, so2: 10, co: 1, o3: 30, health: 'CPCB says so.', stale: state.age > 0, ...(date && { date }) },
		...{ sub_indices: { pm25: 302 }, units: {}, averaging: {}, estimated: [], stations_used: 1, stations_total: 1, source: ['cpcb'] },
		stations: [],
		attribution: ['Central Pollution Control Board (CPCB); DPCC', 'Central Pollution Control Board (CPCB)'],
	};
}

const adviceIn = (statement: string, general: string, name: string) => ({
	data: [
		{ category: 'Good', statement: '–', general: '–', groups: [], advice_sources: [] },
		{ category: 'Very Poor', statement, general, groups: [{ group: 'children', name, text: '…' }], advice_sources: ['mohfw'] },
	],
	sources: [
		{ id: 'cpcb', publisher: 'CPCB', year: 2014 },
		{ id: 'mohfw', publisher: 'Ministry of Health', year: 2023 },
	],
});
const advice = { en: adviceIn('CPCB says so.', 'Stay indoors.', 'Children'), hi: adviceIn('साँस की बीमारी', 'घर के अंदर रहें।', 'बच्चे') };

const get = vi.fn(async (path: string, options: { params: { query: Query } }) => {
	const { query } = options.params;
	requests.push({ path, ...query });
	if (path === '/v1/cities') {
		const [first_day, last_day] = state.readings;
		const city = { name: 'Chennai', first_day, last_day };
		return { data: { data: [city] }, response: Response.json({}) };
	}
	if (path === '/v1/advice') {
		return { data: advice[query.language as 'en' | 'hi'], response: Response.json({}) };
	}
	if (state.status !== 200) {
		const error = { error: { code: state.code, message: state.message, candidates: state.status === 409 ? ['A, Bihar'] : undefined } };
		return { error, response: new Response(null, { status: state.status }) };
	}
	const records =
		query.interval === 'day' ? state.days.map((date) => ({ date, aqi: 90, category: 'Satisfactory', updated: `${date}T18:30:00Z` })) : [];
	const data = query.view ? record(query.date) : { records };
	return { data, response: Response.json({}) };
});

beforeEach(() => {
	sessionState.value = { at: 'in', current: { key: { scopes: ['aqi:read'] } } } as unknown as typeof sessionState.value;
	requests.length = 0;
	Object.assign(state, { status: 200, code: '', message: '', age: 0, readings: ['2010-03-01', '2020-07-01'], days: [] });
	history.replaceState(null, '', '/dashboard/air/Chennai');
	Element.prototype.scrollIntoView = () => undefined;
	vi.spyOn(api, 'GET').mockImplementation(get as unknown as typeof api.GET);
	// This service has no public edge.
	const off = async () => ({ error: {}, response: new Response(null, { status: 404 }) });
	vi.spyOn(withKey, 'GET').mockImplementation(off as unknown as typeof withKey.GET);
});

function show(client = new QueryClient({ defaultOptions: { queries: { retry: 2 } } })): void {
	render(
		<QueryClientProvider client={client}>
			<City city="Chennai" />
		</QueryClientProvider>,
	);
}

test('a day without data keeps its message while the page fetches it again', async () => {
	Object.assign(state, { status: 404, code: 'no_data', message: 'No data.' });
	history.replaceState(null, '', '/dashboard/air/Chennai?date=2016-11-01');
	const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
	show(client);
	await screen.findAllByText('No data for 1 Nov 2016');
	let end = (_: unknown) => {};
	vi.spyOn(api, 'GET').mockImplementation((() => new Promise((done) => (end = done))) as unknown as typeof api.GET);
	await act(async () => {
		void client.refetchQueries({ queryKey: ['air', 'record'] });
		await expect.poll(() => client.isFetching({ queryKey: ['air', 'record'] })).toBeGreaterThan(0);
		// The components have this notice before the one that is scheduled here.
		await new Promise<void>((done) => notifyManager.schedule(done));
	});
	const group = screen.getByRole('group', { name: 'On 1 Nov 2016' });
	within(group).getByText('No data for 1 Nov 2016');
	expect(within(group).queryByText('Loading …')).toBeNull();
	end({ data: record('2016-11-01'), response: Response.json({}) });
	await within(group).findAllByText('302');
});

test('every year with readings can be chosen, and the calendar begins with the last of them', async () => {
	show();
	const year = (await screen.findByLabelText('Year')) as HTMLSelectElement;
	await expect.poll(() => year.value).toBe('2020');
	expect(within(year).getByRole('option', { name: '2010' })).toBeTruthy();
	await expect.poll(() => requests.some(({ from, to }) => from === '2020-01-01' && to === '2020-12-31')).toBe(true);
	fireEvent.click(screen.getByRole('button', { name: /Previous year/ }));
	await expect.poll(() => requests.some(({ from, to }) => from === '2019-01-01' && to === '2019-12-31')).toBe(true);
	expect((await screen.findAllByText(/Chennai has readings from 1 Mar 2010 to 1 Jul/)).length).toBeGreaterThan(0);
});

test('a chart shows any range of days', async () => {
	history.replaceState(null, '', '/dashboard/air/Chennai?span=range&from=2016-11-01&to=2016-11-30&by=day');
	show();
	await expect
		.poll(() => requests.some(({ from, to, interval }) => `${from} ${to} ${interval}` === '2016-11-01 2016-11-30 day'))
		.toBe(true);
	expect(((await screen.findByLabelText('From', {}, { timeout: 20_000 })) as HTMLInputElement).value).toBe('2016-11-01');
});

test('a chosen day gets the focus, and the chart ends on it', async () => {
	show();
	fireEvent.click((await screen.findAllByRole('button', { name: /^Show 1 Jul/ }))[0] as HTMLElement);
	await screen.findByRole('heading', { name: /^On 1 Jul/ });
	expect(document.activeElement?.className).toContain('record');
	await expect
		.poll(() => requests.some(({ from, to, interval }) => `${from} ${to} ${interval}` === '2020-07-01 2020-07-01 hour'))
		.toBe(true);
});

test('figures of another month are not the present', async () => {
	state.age = 125;
	show();
	await screen.findByRole('heading', { name: 'Last reported 125 days ago' });
	expect(screen.queryByText('CPCB says so.')).toBeNull();
	expect(document.querySelector('.current .index')?.className).toContain('stale');
});

test('the statement and the advice for groups are those of the API, in the language of the page', async () => {
	show();
	await screen.findByText('CPCB says so.');
	const card = (await screen.findByRole('heading', { name: 'What to do' })).closest('section') as HTMLElement;
	within(card).getByText('Stay indoors.');
	within(card).getByText('Children');
	within(card).getByText('Summarised from: Ministry of Health (2023). It does not replace a doctor.');
	await showLanguage('hi');
	await screen.findByText('साँस की बीमारी');
	await screen.findByText('बच्चे');
	await showLanguage('en');
});

test('there is no advice for figures that are old', async () => {
	state.age = 125;
	show();
	await screen.findByRole('heading', { name: 'Pollutants' });
	expect(screen.queryByRole('heading', { name: 'What to do' })).toBeNull();
});

test('an attribution is named once', async () => {
	show();
	await screen.findByText('Central Pollution Control Board (CPCB); DPCC');
});

test('without any data the page says so at once, without parts that fail', async () => {
	Object.assign(state, { status: 503, code: 'service_unavailable', message: 'There is no data yet. Retry later.' });
	show();
	await screen.findByText('There is no data yet. Retry later.');
	expect(requests.filter(({ view }) => view).length).toBeLessThanOrEqual(2);
	expect(screen.queryByRole('heading', { name: 'Over time' })).toBeNull();
});

test('a name that several cities share is a question, and cannot be compared', async () => {
	Object.assign(state, { status: 409, code: 'ambiguous_location', message: 'Several cities have this name.' });
	show();
	await screen.findByRole('link', { name: 'A, Bihar' }, { timeout: 20_000 });
	expect(document.querySelector('.failed')).toBeNull();
	await expect.poll(() => screen.queryByRole('link', { name: 'Compare' })).toBeNull();
});

const ago = (days: number) => before(today(new Date()), days);
const shown = (date: string) => new Intl.DateTimeFormat('en-IN', { dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(date));

test('the first day with readings and the first with an AQI are those of the calendar', async () => {
	Object.assign(state, { readings: [ago(22), ago(0)], days: [ago(15), ago(14)] });
	show();
	await screen.findAllByText(
		`Chennai has readings from ${shown(ago(22))} to ${shown(ago(0))}. The first day with an AQI is ${shown(ago(15))}.`,
	);
});

test('a day with an AQI that is older than the known readings is the first day', async () => {
	Object.assign(state, { readings: [ago(8), ago(0)], days: [ago(15), ago(14)] });
	show();
	await screen.findAllByText(`Chennai has readings from ${shown(ago(15))} to ${shown(ago(0))}.`);
});

test('the first day of a calendar that begins after the readings is not the first day with an AQI', async () => {
	// No other test caches this year.
	Object.assign(state, { readings: ['2010-03-01', '2018-07-01'], days: ['2018-03-01'] });
	show();
	await screen.findAllByText(/Chennai has readings from 1 Mar 2010 to 1 Jul/);
	await expect.poll(() => requests.some(({ from, interval }) => from === '2018-01-01' && interval === 'day')).toBe(true);
	await expect.poll(() => document.querySelector('[data-date="2018-03-01"]')).not.toBeNull();
	expect(screen.queryByText(/first day with an AQI/)).toBeNull();
});
