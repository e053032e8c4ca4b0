import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../i18n';
import type { Place } from './places';

/** distance returns the length of the arc between two positions, in degrees. */
function distance([lat, lon]: readonly [number, number], [otherLat, otherLon]: readonly [number, number]): number {
	const radians = Math.PI / 180;
	const cosine =
		Math.sin(lat * radians) * Math.sin(otherLat * radians) +
		Math.cos(lat * radians) * Math.cos(otherLat * radians) * Math.cos((lon - otherLon) * radians);
	return Math.acos(Math.min(1, cosine)) / radians;
}

/** closestTo returns the place closest to a position. Places that do not report are left out. */
export function closestTo(places: readonly Place[], at: readonly [latitude: number, longitude: number]): Place | undefined {
	let [best, least]: [Place | undefined, number] = [undefined, Number.POSITIVE_INFINITY];
	for (const place of places) {
		const far = place.stale || !place.position ? Number.POSITIVE_INFINITY : distance(place.position, at);
		if (far < least) {
			[best, least] = [place, far];
		}
	}
	return best;
}

/** NearMe chooses the place closest to the reader, once the places are known. The position stays in the browser. */
export function NearMe(props: { places: readonly Place[] | undefined; onChoose: (place: Place) => void }): JSX.Element {
	const [failed, setFailed] = useState(false);
	const locate = () => {
		setFailed(false);
		navigator.geolocation.getCurrentPosition(
			({ coords }) => {
				const place = closestTo(props.places ?? [], [coords.latitude, coords.longitude]);
				if (place) {
					props.onChoose(place);
				} else {
					setFailed(true);
				}
			},
			() => setFailed(true),
			{ maximumAge: 600_000, timeout: 30_000 },
		);
	};
	return (
		<>
			<button type="button" disabled={!props.places} onClick={locate}>
				{t('air.near')}
			</button>
			<span class="wrong" role="alert">
				{failed ? t('air.near.failed') : ''}
			</span>
		</>
	);
}
