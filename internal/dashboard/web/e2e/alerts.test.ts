import type { Page } from 'playwright-core';
import { expect, inject, test } from 'vitest';
import type { Schemas } from '../src/api/client';
import { ask, pictured, signedIn } from './browser';
import { Receiver } from './receiver';
import { account, command } from './service';

type Alert = Schemas['Alert'];
type Failure = { error: { message: string; details?: { field: string; message: string }[] } };

const patient = { timeout: 240_000 };

/** problems returns the names of the invalid fields of a form with their messages. */
function problems(page: Page): Promise<Record<string, string>> {
	return page.locator('[aria-invalid=true]').evaluateAll((all) =>
		Object.fromEntries(
			all.map((control) => {
				const error = (control.getAttribute('aria-describedby') ?? '').split(' ').at(-1) ?? '';
				const label = document.querySelector(`label[for="${control.id}"]`)?.textContent ?? '';
				return [label, document.getElementById(error)?.textContent ?? ''];
			}),
		),
	);
}

test('all errors of a form are those of the API, at their fields and at once', async () => {
	const key = await account(inject('data'), 'alert-errors');
	const { page, faults } = await signedIn('/alerts', key);
	await page.getByText('No alerts yet').waitFor();
	await pictured(page, 'alerts-none');
	await page.getByRole('link', { name: 'Add alert' }).click();
	const save = page.getByRole('button', { name: 'Save alert' });
	await page.getByLabel('City', { exact: true }).last().fill('Atlantis');
	await page.getByLabel('Limit').fill('501');
	await page.getByLabel('Minimum interval').fill('soon');
	await page.getByRole('checkbox', { name: 'Quiet hours' }).check();
	await page.getByLabel('To', { exact: true }).fill('22:00');
	await save.click();
	await page.locator('[aria-invalid=true]').first().waitFor();
	const body = {
		place: { city: 'Atlantis' },
		condition: { metric: 'aqi', over: 501 },
		minimum_interval: 'soon',
		quiet_hours: { from: '22:00', to: '22:00' },
	};
	const { error } = await ask<Failure>('/v1/alerts', body, key);
	const of = (field: string) => error.details?.find((detail) => detail.field === field)?.message;
	expect(await problems(page)).toEqual({
		City: of('place.city'),
		Limit: of('condition.over'),
		'Minimum interval': of('minimum_interval'),
		To: of('quiet_hours.to'),
	});
	expect(error.details).toHaveLength(4);
	await expect
		.poll(() =>
			page
				.getByLabel('City', { exact: true })
				.last()
				.evaluate((input) => input === document.activeElement),
		)
		.toBe(true);
	await pictured(page, 'alert-errors');
	expect(faults).toEqual([]);
});

test('an alert is created by keyboard, triggers, is tested, edited, paused and deleted', async () => {
	const key = await account(inject('data'), 'alert-life');
	const receiver = await Receiver.start();
	await ask('/v1/webhooks', { url: receiver.url, events: ['air.alert.triggered', 'air.alert.resolved', 'air.alert.test'] }, key);
	const { page, faults } = await signedIn('/alerts/new?city=Delhi', key);
	const name = page.getByLabel('Name', { exact: true });
	await name.focus();
	await page.keyboard.type('Winter <b>in</b> Delhi');
	await page.getByLabel('Limit').focus();
	await page.keyboard.press('Control+a');
	await page.keyboard.type('0');
	await page.keyboard.press('Enter');
	const heading = page.getByRole('heading', { name: 'Winter <b>in</b> Delhi', level: 1 });
	await heading.waitFor();
	const { data } = await ask<{ data: Alert[] }>('/v1/alerts', undefined, key);
	expect(data).toMatchObject([{ place: { city: 'Delhi' }, condition: { metric: 'aqi', over: 0 }, language: 'en' }]);
	const id = data[0]?.id ?? '';
	const read = () => ask<Alert>(`/v1/alerts/${id}`, undefined, key);

	// The state arrives without a reload.
	const history = page.locator('.alerts-history > li');
	await history.filter({ hasText: 'The condition is met' }).waitFor(patient);
	await page.getByText('AQI: above 0').waitFor();
	await heading.getByText('Triggered', { exact: true }).waitFor(patient);
	await expect.poll(() => receiver.got.map(({ body }) => JSON.parse(body).type), patient).toEqual(['air.alert.triggered']);
	await page.getByRole('button', { name: 'Send test event' }).click();
	await page.getByText('Webhooks that receive it: 1.').waitFor();
	await expect.poll(() => receiver.got.map(({ body }) => JSON.parse(body).type), patient).toContain('air.alert.test');
	await pictured(page, 'alert');

	await page.getByRole('button', { name: 'Edit' }).click();
	await page.getByLabel('Metric', { exact: true }).selectOption({ label: 'AQI category' });
	await page.getByLabel('Comparison').selectOption({ label: 'changes' });
	await page.getByLabel('Change', { exact: true }).selectOption('worse');
	await page.getByLabel('Language of the events').selectOption({ label: 'தமிழ்' });
	expect(await page.getByRole('button', { name: 'Send test event' }).count()).toBe(0); // nothing but the form
	await pictured(page, 'alert-edit');
	await page.getByRole('button', { name: 'Save', exact: true }).click();
	await page.getByText('AQI category: every change for the worse').waitFor();
	expect(await read()).toMatchObject({ condition: { metric: 'category', change: 'worse' }, language: 'ta', state: 'ok' });
	await history.filter({ hasText: 'The alert was changed' }).waitFor(patient);

	await page.getByRole('button', { name: 'Pause' }).click();
	await page.getByText('A paused alert is not evaluated.').waitFor();
	expect(await read()).toMatchObject({ active: false });
	await page.getByRole('link', { name: 'All alerts' }).click();
	await page.getByText('Paused', { exact: true }).waitFor();
	await pictured(page, 'alerts');
	await page.getByRole('link', { name: 'Winter <b>in</b> Delhi' }).click();
	await page.getByRole('button', { name: 'Resume' }).click();
	await page.getByRole('button', { name: 'Pause' }).waitFor();

	await page.getByRole('button', { name: 'Delete', exact: true }).click();
	const dialog = page.getByRole('dialog');
	await dialog.getByRole('button', { name: 'Cancel' }).click();
	expect(await read()).toMatchObject({ active: true });
	await page.getByRole('button', { name: 'Delete', exact: true }).click();
	await dialog.getByRole('button', { name: 'Delete alert' }).click();
	await page.getByText('No alerts yet').waitFor();
	expect(await read()).toMatchObject({ status: 'error' });
	expect(faults).toEqual([]);
});

test('the form has every kind of place and condition, in Hindi, too', async () => {
	const key = await account(inject('data'), 'alert-kinds');
	const { page, faults } = await signedIn('/alerts/new', key);
	const save = page.getByRole('button', { name: 'Save alert' });
	const back = page.getByRole('link', { name: 'All alerts' });
	const made = async (fill: () => Promise<void>) => {
		await page.getByText('Position', { exact: true }).waitFor();
		await fill();
		await save.click();
		await page.getByText('Send a test event').waitFor(); // the page of the alert, which also has the link back
		await back.click();
		await page.getByRole('link', { name: 'Add alert' }).click();
	};
	await made(async () => {
		await page.getByRole('radio', { name: 'Pin code' }).check();
		await page.getByLabel('Pin code').last().fill('110001');
		await page.getByLabel('Metric', { exact: true }).selectOption('pm25');
		await page.getByLabel('Limit').fill('60.5');
	});
	await made(async () => {
		await page.getByRole('radio', { name: 'Position' }).check();
		await page.getByLabel('Latitude').fill('28.6');
		await page.getByLabel('Longitude').fill('77.2');
		await page.getByLabel('Metric', { exact: true }).selectOption('age');
		await page.getByLabel('Limit').fill('21600');
	});
	await made(async () => {
		await page.getByLabel('City', { exact: true }).last().fill('Mumbai');
		await page.getByLabel('Metric', { exact: true }).selectOption('forecast');
		await page.getByLabel('Limit').fill('0.6');
		await page.getByLabel('This category or worse').selectOption('Very Poor');
		await page.getByLabel('Day', { exact: true }).selectOption('2');
	});
	await page.getByRole('heading', { level: 1 }).waitFor();
	const { data } = await ask<{ data: Alert[] }>('/v1/alerts', undefined, key);
	expect(data.map(({ condition }) => condition)).toEqual([
		{ metric: 'pm25', over: 60.5 },
		{ metric: 'age', over: 21600 },
		{ metric: 'forecast', over: 0.6, category: 'Very Poor', day: 2 },
	]);
	expect(data.map(({ place }) => place.pincode ?? place.lat ?? place.city)).toEqual(['110001', 28.6, 'Mumbai']);
	await page.getByRole('navigation', { name: 'Main' }).getByLabel('Language').selectOption('hi');
	await page.getByRole('button', { name: 'अलर्ट सहेजें' }).waitFor();
	await pictured(page, 'alert-new-hi');
	await page.goto('/dashboard/alerts');
	await page.getByText('PM2.5: 60.5 µg/m³ से ऊपर').waitFor();
	await pictured(page, 'alerts-hi');
	expect(faults).toEqual([]);
});

test('without the scope there is no entry, and the page names the scope', async () => {
	const make = ['key', 'create', '--account', 'alert-scope', '--mode', 'sandbox', '--scopes', 'aqi:read', '--quiet'];
	const key = (await command(inject('data'), ...make)).trim();
	const { page, faults } = await signedIn('/alerts', key);
	await page.getByText('Your key lacks the scope alerts:manage').waitFor();
	expect(await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Alerts' }).count()).toBe(0);
	expect(await page.getByRole('link', { name: 'Add alert' }).count()).toBe(0);
	expect(faults).toEqual([]);
});
