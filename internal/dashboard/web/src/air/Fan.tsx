import type { JSX } from 'preact';
import { number } from '../format';
import { t } from '../i18n';
import { bands, type Figure, highest } from './category';
import { corners, type Percentiles, type Point } from './forecast';
import './forecast.css';

const width = 640;
const height = 240;
const left = 48;
const bottom = 28;

/** Fan draws the 10th, 50th and 90th percentile of the next days or hours above the categories. Some of many points have a tick. */
export function Fan(props: {
	days: readonly { name: string; of: Percentiles; tick?: string }[];
	figure: Figure;
	unit: string;
	label: string;
}): JSX.Element {
	const { days, figure } = props;
	const most = Math.max(...days.map(({ of }) => of.p90)) * 1.1 || 1;
	const x = (i: number) => left + ((i + 0.5) * (width - left)) / days.length;
	const y = (value: number) => (height - bottom) * (1 - Math.min(value, most) / most);
	const line = (of: (one: Percentiles) => number): Point[] => days.map((day, i) => [x(i), y(of(day.of))]);
	const edges = [0, ...highest[figure]];
	const ticks = [0, most / 2, most / 1.1];
	return (
		<svg class="fan" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={props.label}>
			{bands.map((band, i) => {
				const top = y(edges[i + 1] ?? most);
				const base = y(edges[i] ?? most);
				return (
					base > top && <rect key={band.word} class={`band aqi-${band.token}`} x={left} y={top} width={width - left} height={base - top} />
				);
			})}
			{ticks.map((tick) => (
				<text key={tick} x={left - 6} y={Math.max(y(tick), 12)} text-anchor="end">
					{number(Math.round(tick))}
				</text>
			))}
			<polygon class="interval" points={corners([...line((one) => one.p10), ...line((one) => one.p90).reverse()])} />
			<polyline class="central" points={corners(line((one) => one.p50))} />
			{days.map(({ name, of, tick }, i) => (
				<g key={name}>
					<line class="range" x1={x(i)} x2={x(i)} y1={y(of.p10)} y2={y(of.p90)} />
					<circle cx={x(i)} cy={y(of.p50)} r={days.length > 10 ? 2 : 5} />
					<text x={x(i)} y={height - 8} text-anchor="middle">
						{tick ?? name}
					</text>
				</g>
			))}
			<text x={left + 6} y={14}>
				{props.unit || t('air.index')}
			</text>
		</svg>
	);
}
