import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { number } from '../format';
import { language, t } from '../i18n';
import { theme } from '../theme';
import { zone, zoneName } from '../zone';
import { bands, type Figure, highest } from './category';
import { apart, joined, type Line, type Step } from './series';
import { stamp, times, zoneOf } from './stamp';
import { widest } from './width';

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

/** stripes are the categories that a plot shows, with their edges in pixels of the canvas. */
function stripes({ bbox, scales, valToPos }: uPlot, figure: Figure) {
	const most = scales.y?.max ?? 0;
	const edges = [0, ...highest[figure]];
	return bands
		.map((band, index) => ({ band, from: edges[index] ?? 0, to: Math.min(most, edges[index + 1] ?? most) }))
		.filter(({ from }) => from < most)
		.map(({ band, from, to }) => ({ band, bottom: valToPos(from, 'y', true), top: Math.max(bbox.top, valToPos(to, 'y', true)) }));
}

/** banded paints the colours of the categories behind a line. */
function banded(figure: Figure, colour: (token: string) => string): (plot: uPlot) => void {
	return (plot) => {
		const { ctx, bbox } = plot;
		ctx.save();
		ctx.globalAlpha = 0.22;
		for (const { band, bottom, top } of stripes(plot, figure)) {
			ctx.fillStyle = colour(`aqi-${band.token}`);
			ctx.fillRect(bbox.left, top, bbox.width, bottom - top);
		}
		ctx.restore();
	};
}

/** nameFont is the font of the names of categories, at a size in pixels. */
const nameFont = (size: number) => `${size}px sans-serif`;

/** named writes the names of the categories at the right of the plot. A category without room for its name has none. */
function named(figure: Figure, colour: (token: string) => string): (plot: uPlot) => void {
	return (plot) => {
		const { ctx, bbox } = plot;
		ctx.save();
		ctx.font = nameFont(12 * devicePixelRatio);
		ctx.textAlign = 'left';
		ctx.textBaseline = 'middle';
		ctx.fillStyle = colour('muted');
		for (const { band, bottom, top } of stripes(plot, figure)) {
			if (bottom - top >= 14 * devicePixelRatio) {
				ctx.fillText(t(band.name), bbox.left + bbox.width + 8 * devicePixelRatio, (bottom + top) / 2);
			}
		}
		ctx.restore();
	};
}

/** labelFont is the font of the names of lines, at a size in pixels. */
const labelFont = (size: number) => `bold ${size}px sans-serif`;

/** leader is the width of the line from the end of a line to its name, in pixels. */
const leader = 14;

/** roomFor returns the width that the names of lines need at the right of a plot. */
const roomFor = (lines: readonly Drawn[]) =>
	leader +
	10 +
	widest(
		lines.map(({ name }) => name),
		labelFont(12),
	);

/** besides returns the width that the names of categories need at the right of a plot, up to a value. */
function besides(figure: Figure, most: number): number {
	const edges = [0, ...highest[figure]];
	const shown = bands.filter((_, index) => (edges[index] ?? most) < most);
	return (
		8 +
		widest(
			shown.map(({ name }) => t(name)),
			nameFont(12),
		)
	);
}

/** labelled writes the name of each line at the right of the plot, beside its last point. */
function labelled(lines: readonly Drawn[], colour: (token: string) => string): (plot: uPlot) => void {
	return ({ ctx, bbox, valToPos }) => {
		ctx.save();
		ctx.font = labelFont(12 * devicePixelRatio);
		ctx.textAlign = 'left';
		ctx.textBaseline = 'middle';
		const ends = lines
			.map((one) => ({ one, last: one.ys.findLastIndex((y) => y !== null) }))
			.flatMap(({ one, last }) => {
				const [x, y] = [one.xs[last], one.ys[last]];
				return typeof x === 'number' && typeof y === 'number' ? [{ one, x: valToPos(x, 'x', true), y: valToPos(y, 'y', true) }] : [];
			})
			.sort((a, b) => a.y - b.y);
		const places = apart(
			ends.map(({ y }) => y),
			14 * devicePixelRatio,
			bbox.top + bbox.height,
		);
		const right = bbox.left + bbox.width;
		for (const [i, { one, x, y }] of ends.entries()) {
			const place = places[i] ?? y;
			ctx.fillStyle = colour(one.token);
			ctx.fillText(one.name, right + (leader + 4) * devicePixelRatio, place);
			// A thin line leads from the last point to the name, which can have made room for another.
			ctx.strokeStyle = ctx.fillStyle;
			ctx.lineWidth = devicePixelRatio;
			ctx.beginPath();
			ctx.moveTo(x + 2 * devicePixelRatio, y);
			ctx.lineTo(right + 2 * devicePixelRatio, y);
			ctx.lineTo(right + leader * devicePixelRatio, place);
			ctx.stroke();
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

/** narrow is the space at the right of a plot without names, in pixels. */
const narrow = 22;

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
		// A narrow chart has no room for names of lines. The legend of the page has them.
		const isWide = () => element.clientWidth >= 640;
		const axis = { stroke: colour('muted'), grid: { stroke: colour('line'), width: 1 }, ticks: { stroke: colour('line'), width: 1 } };
		const most = Math.max(...lines.flatMap(({ ys }) => ys.map((y) => y ?? 0)), figure === 'aqi' ? 100 : 0);
		const limit = most * 1.05 || 1;
		const room = many ? roomFor(lines) : Math.max(narrow, besides(figure, limit));
		const plot = new uPlot(
			{
				width: element.clientWidth,
				height: 280,
				tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), zoneOf(step)),
				legend: { show: false },
				padding: [null, () => (many && !isWide() ? narrow : room), null, null],
				cursor: { drag: { x: true, y: false }, y: false },
				scales: { y: { range: [0, limit] } },
				axes: [
					{ ...axis, space: 70, values: (_, ticks) => times(ticks, step) },
					{
						...axis,
						size: () => (isWide() ? 55 : 36),
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
					draw: [many ? (now) => isWide() && labelled(lines, colour)(now) : named(figure, colour)],
					setCursor: [
						(now) => {
							const i = now.cursor.idx;
							const x = i === null || i === undefined ? undefined : now.data[0][i];
							if (x === undefined || i === null || i === undefined || (now.cursor.left ?? -1) < 0) {
								setTooltip(undefined);
								return;
							}
							setTooltip({
								left: Math.min(Math.max(now.valToPos(x, 'x') + now.bbox.left / devicePixelRatio, 90), element.clientWidth - 90),
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
