import type { JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { hour as hourText } from '../format';
import { t } from '../i18n';
import { hoursBefore, week } from './hours';
import './timeSlider.css';

// While the slider moves, it waits this long for the last position before the map follows.
const settle = 150;

// A playing map shows each hour for this long after it has arrived.
const step = 600;

/**
 * TimeSlider chooses an hour of the last seven days, or the present. It plays the hours up to the present. last is the
 * last full hour, at is the chosen one, and shown is the one on the map, which follows when its figures have arrived.
 */
export function TimeSlider(props: {
	last: string;
	at: string | undefined;
	shown: string | undefined;
	failed: boolean;
	change: (at: string | undefined) => void;
}): JSX.Element {
	const { last, at, shown, failed } = props;
	const id = useId();
	const choose = useRef(props.change);
	choose.current = props.change;
	const [playing, setPlaying] = useState(false);
	// position is where the slider is while the map has not followed yet. The greatest is the present.
	const [position, setPosition] = useState<number>();
	const chosen = at ? week - 1 - Math.round((Date.parse(last) - Date.parse(at)) / 3_600_000) : week;
	const here = position ?? chosen;
	const hourAt = (one: number) => (one >= week ? undefined : hoursBefore(last, week - 1 - one));
	useEffect(() => {
		if (position === undefined) {
			return;
		}
		const timer = setTimeout(() => {
			choose.current(hourAt(position));
		}, settle);
		return () => clearTimeout(timer);
	}, [position]);
	// The address follows later than the state of the component.
	useEffect(() => setPosition((one) => (one === chosen ? undefined : one)), [position, chosen]);
	useEffect(() => {
		if (!playing || position !== undefined) {
			return;
		}
		if (failed || (chosen === week && shown === undefined)) {
			setPlaying(false);
			return;
		}
		if (at !== shown) {
			return;
		}
		const timer = setTimeout(() => choose.current(hourAt(chosen + 1)), step);
		return () => clearTimeout(timer);
	}, [playing, position, chosen, shown, failed]);
	const play = () => {
		if (!playing && here >= week) {
			setPosition(0);
		}
		setPlaying(!playing);
	};
	const move = (to: number) => {
		setPlaying(false);
		setPosition(to);
	};
	const label = hourAt(here);
	const until = label ? hourText(label) : t('air.time.now');
	return (
		<div class="time-slider">
			<button type="button" onClick={play}>
				<span aria-hidden="true">{playing ? '❚❚' : '▶'}</span> {t(playing ? 'air.time.pause' : 'air.time.play')}
			</button>
			<div class="time-range">
				<label for={id}>{t('air.time')}</label>
				<div class="time-row">
					<button type="button" aria-label={t('air.time.before')} disabled={here <= 0} onClick={() => move(here - 1)}>
						‹
					</button>
					<input
						id={id}
						type="range"
						min={0}
						max={week}
						step={1}
						value={here}
						aria-valuetext={until}
						onInput={(event) => move(Number(event.currentTarget.value))}
					/>
					<button type="button" aria-label={t('air.time.after')} disabled={here >= week} onClick={() => move(here + 1)}>
						›
					</button>
				</div>
				<div class="time-ends hint" aria-hidden="true">
					<span>{t('air.time.week')}</span>
					<span>{t('air.time.now')}</span>
				</div>
			</div>
			{/* While it plays, a screen reader would read nothing else. */}
			<p role={playing ? undefined : 'status'}>
				{shown ? t('air.time.shown', { time: hourText(shown) }) : t('air.time.present')}
				{failed && ` ${t('air.time.failed')}`}
			</p>
			<button
				type="button"
				disabled={here >= week}
				onClick={() => {
					setPlaying(false);
					setPosition(undefined);
					props.change(undefined);
				}}
			>
				{t('air.time.now')}
			</button>
		</div>
	);
}
