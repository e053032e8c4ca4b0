import { fireEvent, render, screen } from '@testing-library/preact';
import { afterEach, expect, test, vi } from 'vitest';
import { NearMe } from './NearMe';
import type { Place } from './places';

afterEach(() => vi.unstubAllGlobals());

function placed(id: string, latitude: number, longitude: number, stale = false): Place {
	return {
		...{ id, name: id, state: '', city: id, aqi: 1, category: null, updated: null, stale, at: undefined, position: [latitude, longitude] },
		...{ severity: 0, stations: undefined, source: undefined, kind: undefined, figures: undefined },
	};
}

const places = [placed('Delhi', 28.6, 77.2), placed('Chennai', 13.1, 80.3), placed('Madurai', 9.9, 78.1, true)];

function locate(answer: (found: PositionCallback, failed: PositionErrorCallback) => void): string[] {
	const chosen: string[] = [];
	vi.stubGlobal('navigator', { geolocation: { getCurrentPosition: answer } });
	render(<NearMe places={places} onChoose={({ id }) => chosen.push(id)} />);
	fireEvent.click(screen.getByRole('button', { name: 'Near me' }));
	return chosen;
}

test('the closest place that reports is chosen', () => {
	const position = { coords: { latitude: 9.9, longitude: 78.2 } } as GeolocationPosition;
	expect(locate((found) => found(position))).toEqual(['Chennai']);
});

test('a refused position shows a message', async () => {
	expect(locate((_, failed) => failed({ code: 1 } as GeolocationPositionError))).toEqual([]);
	await screen.findByText('The browser did not share your location.');
});

test('the button waits until the places are known', () => {
	render(<NearMe places={undefined} onChoose={() => undefined} />);
	expect((screen.getByRole('button', { name: 'Near me' }) as HTMLButtonElement).disabled).toBe(true);
});
