import type { JSX } from 'preact';
import { number } from '../format';
import { t } from '../i18n';
import { Table } from '../ui/Table';
import { corners, type Point, type Scores } from './forecast';
import './forecast.css';

const size = 280;
const margin = 36;

const events = ['over 200', 'over 300', 'over 400'] as const;

const place = (probability: number, frequency: number): Point => [
	margin + probability * (size - margin),
	(size - margin) * (1 - frequency),
];

/** percent writes a share. */
const percent = (share: number) => `${number(Math.round(share * 100))} %`;

/** Reliability shows how often an index over a limit came, by the probability that the forecasts gave. */
export function Reliability(props: { of: Scores['reliability'] }): JSX.Element {
	const shown = props.of.filter(({ model }) => model === 'damped_anomaly');
	const [right, top] = place(1, 1);
	const [x0, y0] = place(0, 0);
	return (
		<div class="reliability">
			<svg viewBox={`0 -24 ${size + 20} ${size + 24}`} role="img" aria-label={t('air.forecast.reliability.label')}>
				<line class="right" x1={x0} y1={y0} x2={right} y2={top} />
				<polyline class="axis" points={corners([place(0, 1), place(0, 0), place(1, 0)])} />
				{[0, 0.5, 1].map((share) => (
					<g key={share}>
						<text x={place(share, 0)[0]} y={size - 18} text-anchor="middle">
							{number(share * 100)}
						</text>
						<text x={margin - 8} y={place(0, share)[1] + 4} text-anchor="end">
							{number(share * 100)}
						</text>
					</g>
				))}
				<text x={(size + margin) / 2} y={size - 4} text-anchor="middle">
					{t('air.forecast.probability')}, %
				</text>
				<text x={margin - 24} y={-12}>
					{t('air.forecast.frequency')}, %
				</text>
				{events.map((event, i) => {
					const points = shown.filter((one) => one.event === event).map((one) => place(one.probability, one.frequency));
					return (
						<g key={event} class={`event-${i + 1}`}>
							<polyline points={corners(points)} />
							{points.map(([x, y]) => (
								<circle key={x} cx={x} cy={y} r={4} />
							))}
						</g>
					);
				})}
			</svg>
			<Table
				caption={t('air.forecast.reliability')}
				compact
				rows={shown}
				id={(one) => `${one.event} ${one.probability}`}
				columns={[
					{
						name: t('air.forecast.event'),
						show: (one) => (
							<span class={`event event-${(events as readonly string[]).indexOf(one.event) + 1}`}>
								<span>{t('air.forecast.over', { limit: one.event.slice('over '.length) })}</span>
							</span>
						),
					},
					{ name: t('air.forecast.probability'), figure: true, phone: 'labelled', show: (one) => percent(one.probability) },
					{ name: t('air.forecast.frequency'), figure: true, phone: 'labelled', show: (one) => percent(one.frequency) },
					{ name: t('air.forecast.forecasts'), figure: true, phone: 'labelled', show: (one) => number(one.forecasts) },
				]}
			/>
		</div>
	);
}
