import { fireEvent, render } from '@testing-library/preact';
import { expect, test } from 'vitest';
import { IndiaMap } from './IndiaMap';
import { cityPlace, type Place } from './places';

/** places returns new objects for the same three cities, as each refresh does. */
function places(aqi: number): Place[] {
	return [
		['Delhi', 28.6, 77.2],
		['Chennai', 13.1, 80.3],
		['Kolkata', 22.6, 88.4],
	].map(([name, latitude, longitude]) =>
		cityPlace({
			...{ name: `${name}`, city: `${name}`, state: '', aqi, category: 'Moderate', updated: '2026-11-20T00:00:00Z', stale: false },
			...{ age_hours: 0, latitude: Number(latitude), longitude: Number(longitude), stations: 1 },
			...{ first_day: '2026-11-20', last_day: '2026-11-20' },
		}),
	);
}

function map(of: Place[]) {
	return <IndiaMap places={of} layer="cities" state="" chosen={undefined} onChoose={() => undefined} onState={() => undefined} />;
}

test('the label of a mark below a resting pointer stays after a refresh, and not after the mark is gone', () => {
	const { container, rerender } = render(map(places(120)));
	const label = () => container.querySelector('.named text')?.textContent;
	fireEvent.pointerEnter(container.querySelector('[data-place="Delhi"]') as Element);
	expect(label()).toBe('Delhi120 Moderate');
	rerender(map(places(130)));
	expect(label()).toBe('Delhi130 Moderate');
	rerender(map(places(130).slice(1)));
	expect(label()).toBeUndefined();
	rerender(map(places(130)));
	expect(label()).toBeUndefined();
});
