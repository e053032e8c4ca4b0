import { expect, inject, test } from 'vitest';
import type { Schemas } from '../src/api/client';
import { same } from './air';
import { accessible, ask, phone, pictured, signedIn } from './browser';

const still = { reducedMotion: 'reduce' } as const;

test('the slider shows the stations in an hour of the last week, by keyboard alone', async () => {
	const { page, faults } = await signedIn('/?map=detailed&layer=stations&state=Kerala', inject('sandbox'), inject('base'), still);
	const slider = page.getByRole('slider', { name: 'Hour in the last 7 days' });
	await slider.focus();
	for (let i = 0; i < 3; i++) {
		await page.keyboard.press('ArrowLeft');
	}
	await page.getByText('Stations in the hour ending').waitFor();
	const chosen = () => new URL(page.url()).searchParams.get('hour') ?? '';
	await expect.poll(chosen).not.toBe('');
	expect(await slider.getAttribute('aria-valuetext')).toContain('IST');
	const list = page.getByRole('list', { name: 'Places' });
	// The figures are those of the API, and the other stations are grey and not counted.
	await same(
		async () => [...(await list.locator('.index:not(.stale) b').allTextContents()), String(await list.locator('.index.stale').count())],
		async () => {
			const hour = (await ask<{ data: Schemas['StationInHour'][] }>(`/v1/hours?hour=${chosen()}&limit=1000`)).data;
			const all = (await ask<{ data: Schemas['Station'][] }>('/v1/stations?state=Kerala&limit=1000')).data.map(({ id }) => id);
			const found = hour.filter(({ station }) => all.includes(station));
			const figures = found.map(({ aqi }) => aqi ?? -1).sort((a, b) => b - a);
			return [...figures.map((aqi) => (aqi < 0 ? '–' : String(aqi))), String(all.length - found.length)];
		},
	);
	await pictured(page, 'air-hour');
	// Play moves on by itself.
	const before = chosen();
	await page.getByRole('button', { name: 'Play' }).focus();
	await page.keyboard.press('Enter');
	await expect.poll(chosen).not.toBe(before);
	await page.getByRole('button', { name: 'Now', exact: true }).focus();
	await page.keyboard.press('Enter');
	await page.getByText('Current air quality.').waitFor();
	expect(chosen()).toBe('');
	// From the present, Play begins a week ago.
	await page.getByRole('button', { name: 'Play' }).focus();
	await page.keyboard.press('Enter');
	await expect.poll(() => Date.now() - Date.parse(chosen())).toBeGreaterThan(6 * 86_400_000);
	const first = chosen();
	await expect.poll(chosen).not.toBe(first);
	await page.getByRole('button', { name: 'Pause' }).waitFor();
	expect(faults).toEqual([]);
});

test('on a phone in Hindi the slider chooses an hour of a week ago', async () => {
	const { page, faults } = await signedIn('/?map=detailed&layer=stations', inject('sandbox'), inject('base'), { ...phone, ...still });
	await page.getByRole('button', { name: 'Menu' }).click();
	await page.getByLabel('Language').selectOption('hi');
	const slider = page.getByRole('slider', { name: 'पिछले 7 दिनों का घंटा' });
	await slider.focus();
	await page.keyboard.press('Home');
	await page.getByText('तक के घंटे में स्टेशन।').waitFor();
	await accessible(page);
	expect(faults).toEqual([]);
});
