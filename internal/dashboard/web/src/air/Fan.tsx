import type { JSX } from 'preact';
import { number } from '../format';
import { t } from '../i18n';
import { bands, type Figure, highest } from './category';
import { corners, type Percentiles, type Point } from './forecast';
import type { Step } from './series';
import { times } from './stamp';
import { useWidth, widest } from './width';
import './forecast.css';

const height = 250;
const left = 36;
const bottom = 38;
// The unit stands above the bands.
const top = 20;

/** apart is the least distance of two ticks, in pixels. Letters of 12 pixels need it in both languages. */
const apart = { hour: 64, day: 44 } as const;

/**
 * Fan draws the 10th, 50th and 90th percentile of the next days or hours above the categories, after the present value if it
 * is known. at is in seconds, and name is the tick of a day. As many points have a tick as there is room for.
 */
export function Fan(props: {
	days: readonly { at: number; name?: string; of: Percentiles }[];
	now?: number | undefined;
	step: Step;
	figure: Figure;
	unit: string;
	label: string;
}): JSX.Element {
	const { days, figure, now, step } = props;
	const { frame, width } = useWidth();
	const shift = now === undefined ? 0 : 1;
	const few = days.length <= 10;
	const most = Math.max(now ?? 0, ...days.map(({ of }) => of.p90)) * 1.1 || 1;
	const y = (value: number) => top + (height - bottom - top) * (1 - Math.min(value, most) / most);
	const edges = [0, ...highest[figure]];
	const shown = bands.map((band, i) => ({ band, above: y(edges[i + 1] ?? most), base: y(edges[i] ?? most) }));
	// The names of the categories are at the right of the curve. A category without room for its name has none.
	const called = shown.filter(({ above, base }) => base - above >= 14);
	const end =
		width -
		8 -
		widest(
			called.map(({ band }) => t(band.name)),
			'12px sans-serif',
		);
	const each = (end - left - 6) / (days.length + shift);
	const every = Math.ceil(apart[step] / each);
	const x = (i: number) => left + (i + shift + 0.5) * each;
	// The right end would cut the text of a tick that is too close to it.
	const named = days.filter((_, i) => i % every === Math.floor((every - 1) / 2) && x(i) + apart[step] / 2 <= width);
	const written = times(
		named.map(({ at }) => at),
		step,
	).map((text) => text.split('\n'));
	const texts = new Map(named.map(({ at, name }, i) => [at, name?.split(', ') ?? written[i]] as const));
	const line = (of: (one: Percentiles) => number): Point[] => days.map((day, i) => [x(i), y(of(day.of))]);
	// The ticks are the limits of the categories. A limit that is too close to the last one has no tick.
	const ticks: number[] = [];
	for (const limit of edges) {
		if (limit <= most && (ticks.length === 0 || y(ticks.at(-1) ?? 0) - y(limit) >= 14)) {
			ticks.push(limit);
		}
	}
	return (
		<div ref={frame} class="fan">
			<svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={props.label}>
				{shown.map(
					({ band, above, base }) =>
						base > above && (
							<rect key={band.word} class={`band aqi-${band.token}`} x={left} y={above} width={end - left - 6} height={base - above} />
						),
				)}
				{ticks.map((tick) => (
					<text key={tick} x={left - 6} y={y(tick) + 4} text-anchor="end">
						{number(tick)}
					</text>
				))}
				{called.map(({ band, above, base }) => (
					<text key={band.word} class="name" x={end} y={(above + base) / 2 + 4}>
						{t(band.name)}
					</text>
				))}
				<polygon class="interval" points={corners([...line((one) => one.p10), ...line((one) => one.p90).reverse()])} />
				<polyline class="central" points={corners(line((one) => one.p50))} />
				{now !== undefined && (
					<g>
						{days[0] && <line class="range ahead" x1={x(-1)} x2={x(0)} y1={y(now)} y2={y(days[0].of.p50)} />}
						<circle class="measured" cx={x(-1)} cy={y(now)} r={5} />
						<text class="tick" x={x(-1)} y={height - bottom + 16} text-anchor="middle">
							{t('air.now')}
						</text>
					</g>
				)}
				{days.map(({ at, of }, i) => (
					<g key={at}>
						{few && <line class="range" x1={x(i)} x2={x(i)} y1={y(of.p10)} y2={y(of.p90)} />}
						<circle cx={x(i)} cy={y(of.p50)} r={few ? 5 : 2} />
						{texts.get(at)?.map((text, n) => (
							<text key={n} class="tick" x={x(i)} y={height - bottom + 16 + 16 * n} text-anchor="middle">
								{text}
							</text>
						))}
					</g>
				))}
				<text class="name" x={left} y={13}>
					{props.unit || t('air.index')}
				</text>
			</svg>
		</div>
	);
}
