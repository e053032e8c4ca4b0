import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { number } from '../format';
import { language, t } from '../i18n';
import { theme } from '../theme';
import { zone, zoneName } from '../zone';
import { bands, type Figure, highest } from './category';
import { joined, type Line, type Step } from './series';
import { stamp, times, zoneOf } from './stamp';

/** Drawn is a line with its name and its style. */
export interface Drawn extends Line {
	name: string;
	/** token names the CSS custom property of its colour. */
	token: string;
	dash: readonly number[];
}

/**
 * Returns a function that resolves colours. A canvas cannot read custom properties, and their values depend on
 * the colour scheme.
 */
function colours(element: HTMLElement): (token: string) => string {
	return (token) => {
		element.style.color = `var(--${token})`;
		const colour = getComputedStyle(element).color;
		element.style.color = '';
		return colour;
	};
}

/** banded paints the categories behind the lines, with their names. */
function banded(figure: Figure, colour: (token: string) => string): (plot: uPlot) => void {
	return ({ ctx, bbox, scales, valToPos }) => {
		const most = scales.y?.max ?? 0;
		const edges = [0, ...highest[figure]];
		ctx.save();
		ctx.beginPath();
		ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
		ctx.clip();
		ctx.font = `${11 * devicePixelRatio}px sans-serif`;
		ctx.textBaseline = 'bottom';
		for (const [index, band] of bands.entries()) {
			const from = edges[index] ?? 0;
			if (from >= most) {
				break;
			}
			const bottom = valToPos(from, 'y', true);
			const top = Math.max(bbox.top, valToPos(Math.min(most, edges[index + 1] ?? most), 'y', true));
			ctx.globalAlpha = 0.22;
			ctx.fillStyle = colour(`aqi-${band.token}`);
			ctx.fillRect(bbox.left, top, bbox.width, bottom - top);
			if (bottom - top > 14 * devicePixelRatio) {
				ctx.globalAlpha = 1;
				ctx.fillStyle = colour('muted');
				ctx.fillText(t(band.name), bbox.left + 6 * devicePixelRatio, bottom - 2 * devicePixelRatio);
			}
		}
		ctx.restore();
	};
}

/** labelled writes the name of each line at its last point. */
function labelled(lines: readonly Drawn[], colour: (token: string) => string): (plot: uPlot) => void {
	return ({ ctx, bbox, valToPos }) => {
		ctx.save();
		ctx.font = `bold ${12 * devicePixelRatio}px sans-serif`;
		ctx.textAlign = 'right';
		let last = Number.NEGATIVE_INFINITY;
		const ends = lines
			.map((one) => ({ one, i: one.ys.findLastIndex((y) => y !== null) }))
			.filter(({ i }) => i >= 0)
			.map(({ one, i }) => ({ one, y: valToPos(one.ys[i] ?? 0, 'y', true) }))
			.sort((a, b) => a.y - b.y);
		for (const { one, y } of ends) {
			// Names that would overlap are moved apart.
			const at = Math.max(y - 5 * devicePixelRatio, last + 14 * devicePixelRatio);
			last = at;
			ctx.lineWidth = 3 * devicePixelRatio;
			ctx.strokeStyle = colour('surface');
			ctx.strokeText(one.name, bbox.left + bbox.width - 4 * devicePixelRatio, at);
			ctx.fillStyle = colour(one.token);
			ctx.fillText(one.name, bbox.left + bbox.width - 4 * devicePixelRatio, at);
		}
		ctx.restore();
	};
}

/**
 * redrawn draws a plot, again before and after printing, and follows the width of its element. Paper has the light
 * scheme. The returned function removes the plot.
 */
function redrawn(element: HTMLElement, draw: () => uPlot): () => void {
	let plot = draw();
	const again = (printing: boolean) => {
		document.documentElement.toggleAttribute('data-printing', printing);
		plot.destroy();
		plot = draw();
	};
	const before = () => again(true);
	const after = () => again(false);
	const resized = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: 280 }));
	resized.observe(element);
	addEventListener('beforeprint', before);
	addEventListener('afterprint', after);
	return () => {
		removeEventListener('beforeprint', before);
		removeEventListener('afterprint', after);
		resized.disconnect();
		plot.destroy();
	};
}

/** TooltipContent is the text and position of the tooltip at the pointer. */
interface TooltipContent {
	left: number;
	title: string;
	rows: readonly (readonly [name: string, value: string])[];
}

/** Chart draws lines over time. Lines in AirCharts.tsx shows the same figures as a table. */
export function Chart(props: { lines: readonly Drawn[]; figure: Figure; unit: string; step: Step; label: string }): JSX.Element {
	const { lines, figure, unit, step, label } = props;
	const root = useRef<HTMLDivElement>(null);
	const [tooltip, setTooltip] = useState<TooltipContent>();
	const [system, setSystem] = useState(0);
	useEffect(() => {
		const dark = matchMedia('(prefers-color-scheme: dark)');
		const changed = () => setSystem((n) => n + 1);
		dark.addEventListener('change', changed);
		return () => dark.removeEventListener('change', changed);
	}, []);
	const look = `${theme.value} ${language.value} ${zone.value} ${system}`;
	/** draw draws the lines at the present width. */
	const draw = (element: HTMLElement): uPlot => {
		const colour = colours(element);
		const many = lines.length > 1;
		const axis = { stroke: colour('muted'), grid: { stroke: colour('line'), width: 1 }, ticks: { stroke: colour('line'), width: 1 } };
		const most = Math.max(...lines.flatMap(({ ys }) => ys.map((y) => y ?? 0)), figure === 'aqi' ? 100 : 0);
		const plot = new uPlot(
			{
				width: element.clientWidth,
				height: 280,
				tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), zoneOf(step)),
				legend: { show: false },
				cursor: { drag: { x: true, y: false }, y: false },
				scales: { y: { range: [0, most * 1.05 || 1] } },
				axes: [
					{ ...axis, space: 70, values: (_, ticks) => times(ticks, step) },
					{
						...axis,
						size: 55,
						label: unit,
						labelSize: 18,
						labelFont: '12px sans-serif',
						values: (_, ticks) => ticks.map((tick) => number(tick)),
					},
				],
				series: [
					{},
					...lines.map((one) => ({
						label: one.name,
						stroke: colour(one.token),
						width: 2,
						dash: [...one.dash],
						spanGaps: false,
					})),
				],
				hooks: {
					drawClear: many ? [] : [banded(figure, colour)],
					draw: many ? [labelled(lines, colour)] : [],
					setCursor: [
						(now) => {
							const i = now.cursor.idx;
							const x = i === null || i === undefined ? undefined : now.data[0][i];
							if (x === undefined || i === null || i === undefined || (now.cursor.left ?? -1) < 0) {
								setTooltip(undefined);
								return;
							}
							setTooltip({
								left: Math.min(Math.max(now.valToPos(x, 'x') + 55, 90), element.clientWidth - 90),
								title: step === 'hour' ? `${stamp(x, step)} ${zoneName.value}` : stamp(x, step),
								rows: lines.map((one, s) => {
									const y = now.data[s + 1]?.[i];
									return [one.name, typeof y === 'number' ? `${number(y)} ${unit}` : t('air.nofigure')] as const;
								}),
							});
						},
					],
				},
			},
			joined(lines) as uPlot.AlignedData,
			element,
		);
		return plot;
	};
	useEffect(() => {
		const element = root.current;
		return element ? redrawn(element, () => draw(element)) : undefined;
	}, [lines, figure, unit, step, look]);
	return (
		<div class="chart">
			<div class="tooltip" aria-hidden="true" style={{ left: `${tooltip?.left ?? 0}px`, visibility: tooltip ? 'visible' : 'hidden' }}>
				<b>{tooltip?.title}</b>
				{tooltip?.rows.map(([name, value]) => (
					<div key={name}>
						{name}: {value}
					</div>
				))}
			</div>
			<div ref={root} role="img" aria-label={label} />
		</div>
	);
}
