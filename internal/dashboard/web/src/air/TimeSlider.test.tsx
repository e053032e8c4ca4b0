import { fireEvent, render, screen } from '@testing-library/preact';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { hourOf, lastHour, placesIn } from './hours';
import type { Place } from './places';
import { TimeSlider } from './TimeSlider';

beforeEach(() => {
	vi.useFakeTimers();
});
afterEach(() => {
	vi.useRealTimers();
});

const last = '2026-11-20T08:30:00Z';

test('the last hour is an Indian one, and the address has an hour of the last week only', () => {
	expect(lastHour(new Date('2026-11-20T09:12:00Z'))).toBe(last);
	expect(lastHour(new Date('2026-11-20T09:30:00Z'))).toBe('2026-11-20T09:30:00Z');
	expect(hourOf('2026-11-13T09:30:00Z', last)).toBe('2026-11-13T09:30:00Z');
	for (const text of ['2026-11-13T08:30:00Z', '2026-11-20T09:30:00Z', '2026-11-20T08:00:00Z', 'rubbish', undefined]) {
		expect(hourOf(text, last)).toBeUndefined();
	}
});

test('a station without a reading in the hour is stale and has no figures', () => {
	const one = { id: 'a', aqi: 90, category: 'Satisfactory', stale: false, severity: 1 } as Place;
	const found = {
		station: 'b',
		aqi: 331,
		category: 'Very Poor',
		pm25: 1,
		pm10: 2,
		no2: 3,
		so2: 4,
		co: 5,
		o3: null,
		updated: last,
	} as const;
	const [a, b] = placesIn([one, { ...one, id: 'b', stale: true }], { hour: last, scale: 'in', stations: new Map([['b', found]]) });
	expect(a).toMatchObject({ stale: true, aqi: null, category: null, severity: -1, hour: last });
	expect(b).toMatchObject({ stale: false, aqi: 331, category: 'Very Poor', severity: 4, hour: last });
});

test('a move of the slider chooses its last position, and the end is the present', () => {
	const chosen: (string | undefined)[] = [];
	const slid = (at: string | undefined) => <TimeSlider last={last} at={at} shown={at} failed={false} change={(one) => chosen.push(one)} />;
	const { rerender } = render(slid(undefined));
	const slider = screen.getByRole('slider', { name: 'Hour in the last 7 days' });
	expect(slider.getAttribute('aria-valuetext')).toBe('Now');
	fireEvent.input(slider, { target: { value: '0' } });
	fireEvent.input(slider, { target: { value: '167' } });
	expect(slider.getAttribute('aria-valuetext')).toContain('2:00 pm IST');
	vi.advanceTimersByTime(1000);
	expect(chosen).toEqual([last]);
	rerender(slid(last));
	fireEvent.input(slider, { target: { value: '168' } });
	vi.advanceTimersByTime(1000);
	expect(chosen).toEqual([last, undefined]);
});

test('on a phone, where an hour is two pixels wide, buttons move the slider by an hour', () => {
	const chosen: (string | undefined)[] = [];
	const at = '2026-11-20T07:30:00Z';
	render(<TimeSlider last={last} at={at} shown={at} failed={false} change={(one) => chosen.push(one)} />);
	fireEvent.click(screen.getByRole('button', { name: 'One hour earlier' }));
	fireEvent.click(screen.getByRole('button', { name: 'One hour earlier' }));
	vi.advanceTimersByTime(1000);
	expect(chosen).toEqual(['2026-11-20T05:30:00Z']);
	fireEvent.click(screen.getByRole('button', { name: 'One hour later' }));
	vi.advanceTimersByTime(1000);
	expect(chosen).toEqual(['2026-11-20T05:30:00Z', '2026-11-20T06:30:00Z']);
});

test('play shows the next hour only after the present one has arrived, and ends at the present', () => {
	const chosen: (string | undefined)[] = [];
	const at = '2026-11-20T07:30:00Z';
	const slider = (now: string | undefined, shown: string | undefined) => (
		<TimeSlider last={last} at={now} shown={shown} failed={false} change={(one) => chosen.push(one)} />
	);
	const { rerender } = render(slider(at, undefined));
	fireEvent.click(screen.getByRole('button', { name: 'Play' }));
	vi.advanceTimersByTime(10_000);
	expect(chosen).toEqual([]);
	rerender(slider(at, at));
	vi.advanceTimersByTime(10_000);
	expect(chosen).toEqual([last]);
	rerender(slider(last, last));
	vi.advanceTimersByTime(10_000);
	expect(chosen).toEqual([last, undefined]);
	rerender(slider(undefined, undefined));
	screen.getByRole('button', { name: 'Play' });
});
