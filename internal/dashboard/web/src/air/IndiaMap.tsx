import type { JSX, RefObject } from 'preact';
import { memo } from 'preact/compat';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { number } from '../format';
import { cityName, language, locale, stateName, t } from '../i18n';
import { lastReported } from './age';
import { toneOf } from './category';
import { MapTools } from './MapTools';
import { Credit, useOutlines } from './outline';
import { grouped, type Mark as Marked } from './overlaps';
import { type Layer, type Place, sorted } from './places';
import { around, type Fraction, fitted, moved, nearest, opened, pinched, size, type View, whole, within, zoomed } from './projection';
import { bandIn } from './scale';

// The greatest distance, in pixels of the screen, at which a tap chooses a mark.
const reach = 16;

// At this zoom and above, a mark has space for its figure.
const roomy = 2.2;

/** MapProps are what a map shows, and what it reports. */
export interface MapProps {
	places: readonly Place[];
	layer: Layer;
	state: string;
	chosen: Place | undefined;
	onChoose: (place: Place) => void;
	onState: (state: string) => void;
}

const none: ReturnType<typeof useOutlines> = [];

/**
 * IndiaMap shows the states and a mark for each place, or for several that are close to each other. A mark has the colour of
 * its category, and grows with its severity. The list beside the map offers the same by keyboard, so marks react to pointers
 * only.
 */
export function IndiaMap(props: MapProps): JSX.Element {
	const outlines = useOutlines();
	const [view, setView] = useState<View>(whole);
	const [hovered, setHovered] = useState<string>();
	const { chosen, state } = props;
	// The whole of India needs no outlines. If they arrive late, the reader may have moved the map by then.
	const framed = state ? outlines : none;
	useEffect(() => {
		setView(state ? fitted(framed.filter(({ name }) => name === state).map(({ box }) => box)) : whole);
	}, [state, framed]);
	useEffect(() => {
		const at = chosen?.at;
		if (at) {
			setView((now) => (now.zoom > 1 ? around(at[0], at[1], now.zoom) : now));
		}
	}, [chosen?.at]);
	const drag = useDrag(view, setView);
	const width = useWidth(drag.svg);
	// Map units per pixel of the screen.
	const unit = size.width / view.zoom / width;
	const large = view.zoom >= roomy;
	const worstFirst = useMemo(() => sorted(props.places, 'worst', locale.value), [props.places]);
	// Marks of severe places are drawn above the others.
	const marks = useMemo(() => grouped(worstFirst, unit, large).reverse(), [worstFirst, unit, large]);
	const pressed = (event: KeyboardEvent) => {
		const next = keys[event.key]?.(view);
		if (next) {
			event.preventDefault();
			setView(next);
		}
	};
	// A mark of several places opens: the map shows them apart. At the greatest zoom it chooses the worst.
	const take = useRef<(mark: Marked) => void>(() => undefined);
	take.current = ({ places }) => {
		const next = places.length > 1 ? opened(view, places) : view;
		const [first] = places;
		if (next.zoom > view.zoom) {
			setView(next);
		} else if (first) {
			props.onChoose(first);
		}
	};
	// The end of a drag must not choose a place.
	const choose = useCallback((mark: Marked) => drag.still() && take.current(mark), []);
	// A finger is wider than a mark. A tap chooses the nearest mark in its reach, and otherwise the state.
	const tapped = (event: MouseEvent) => {
		const at = drag.touched() && drag.still() ? drag.fraction(event) : undefined;
		const mark = at && nearest(marks, [view.x + (at.x * size.width) / view.zoom, view.y + (at.y * size.height) / view.zoom], reach * unit);
		if (mark) {
			event.stopPropagation();
			take.current(mark);
		}
	};
	// Each refresh makes new marks. A mark can be gone without an event of the pointer.
	const over = marks.find((mark) => mark.places[0]?.id === hovered);
	useEffect(() => {
		if (!over) {
			setHovered(undefined);
		}
	}, [over]);
	const [place = chosen] = over?.places ?? [];
	const count = over?.places.length ?? 1;
	return (
		<div class="map">
			<div class="map-view">
				<div
					class="map-frame"
					role="application"
					aria-roledescription={t('air.map')}
					aria-label={t('air.map.label')}
					// biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys move the map
					tabIndex={0}
					onKeyDown={pressed}
				>
					<svg
						ref={drag.svg}
						viewBox={`${view.x} ${view.y} ${size.width / view.zoom} ${size.height / view.zoom}`}
						class={view.zoom > 1 ? 'movable' : ''}
						aria-hidden="true"
						{...drag.handlers}
						onClickCapture={tapped}
					>
						{useMemo(
							() => (
								<g class="states">
									{outlines.map(({ name, path }) => (
										// biome-ignore lint/a11y/noStaticElementInteractions: the choice of a state is beside the map
										<path key={name} d={path} class={name === state ? 'on' : ''} onClick={() => drag.still() && props.onState(name)}>
											<title>{stateName(name)}</title>
										</path>
									))}
								</g>
							),
							[outlines, state, language.value],
						)}
						<g>
							{marks.map((mark) => (
								<Mark
									key={mark.places[0]?.id}
									mark={mark}
									unit={unit}
									large={large}
									square={props.layer === 'stations'}
									onHover={setHovered}
									onChoose={choose}
								/>
							))}
						</g>
						{place && <Named place={place} count={count} radius={over?.radius ?? 12} view={view} unit={unit} />}
					</svg>
				</div>
				<MapTools
					zoomIn={() => setView(zoomed(view, 1.6))}
					zoomOut={() => setView(zoomed(view, 1 / 1.6))}
					whole={() => {
						setView(whole);
						props.onState('');
					}}
					move={view.zoom > 1 ? (right, down) => setView(moved(view, right, down)) : undefined}
				/>
			</div>
			{marks.some(({ places }) => places.length > 1) && (
				<p class="hint">
					{t('air.map.simple.marks')} {props.layer === 'stations' && t('air.map.simple.stations')}
				</p>
			)}
			<Credit />
		</div>
	);
}

const keys: Readonly<Record<string, (view: View) => View>> = {
	'+': (view) => zoomed(view, 1.6),
	'=': (view) => zoomed(view, 1.6),
	'-': (view) => zoomed(view, 1 / 1.6),
	'0': () => whole,
	ArrowLeft: (view) => moved(view, -0.2, 0),
	ArrowRight: (view) => moved(view, 0.2, 0),
	ArrowUp: (view) => moved(view, 0, -0.2),
	ArrowDown: (view) => moved(view, 0, 0.2),
};

/** Mark is a place on the map, or several. Its sizes are in pixels of the screen, so zooming does not change them. */
const Mark = memo(function Mark(props: {
	mark: Marked;
	unit: number;
	large: boolean;
	square: boolean;
	onHover: (id: string | undefined) => void;
	onChoose: (mark: Marked) => void;
}): JSX.Element | null {
	const { mark, unit, large } = props;
	const [place] = mark.places;
	if (!place) {
		return null;
	}
	const [x, y] = mark.at;
	const radius = mark.radius * unit;
	const several = mark.places.length > 1;
	return (
		// biome-ignore lint/a11y/noStaticElementInteractions: the list beside the map is the way for keys
		<g
			data-place={place.id}
			class={`mark ${several ? 'several ' : ''}${place.stale ? 'stale' : toneOf(bandIn(place.scale, place.category))}`}
			onPointerEnter={() => props.onHover(place.id)}
			onPointerLeave={() => props.onHover(undefined)}
			onClick={() => props.onChoose(mark)}
		>
			{props.square && !several ? (
				<rect x={x - radius} y={y - radius} width={2 * radius} height={2 * radius} rx={radius / 4} />
			) : (
				<circle cx={x} cy={y} r={radius} />
			)}
			{several ? (
				<text x={x} y={y} font-size={(large ? 11 : 10) * unit}>
					×{number(mark.places.length)}
				</text>
			) : (
				large && (
					<text x={x} y={y} font-size={10 * unit}>
						{place.stale ? '–' : (place.aqi ?? '–')}
					</text>
				)
			)}
		</g>
	);
});

/** Named is the hovered or chosen mark. It is drawn above all others, with the name and figure of its place, the worst of several. */
function Named(props: { place: Place; count: number; radius: number; view: View; unit: number }): JSX.Element | null {
	const { place, count, view, unit } = props;
	if (!place.at) {
		return null;
	}
	const [x, y] = place.at;
	const band = bandIn(place.scale, place.category);
	const right = x - view.x < size.width / view.zoom / 2;
	const low = y - view.y < 40 * unit;
	const beside = x + (right ? 1 : -1) * (props.radius + 6) * unit;
	const figure = place.stale ? lastReported(place.updated, new Date()) : `${place.aqi ?? '–'} ${band ? t(band.name) : t('air.noindex')}`;
	const [above, below] =
		count > 1 ? [t('air.map.group', { count: number(count) }), `${cityName(place.name)}: ${figure}`] : [cityName(place.name), figure];
	return (
		<g class="named">
			<circle cx={x} cy={y} r={(props.radius + 2) * unit} stroke-width={2.5 * unit} />
			<text x={beside} y={y + (low ? 12 : -4) * unit} font-size={15 * unit} stroke-width={4 * unit} text-anchor={right ? 'start' : 'end'}>
				<tspan>{above}</tspan>
				<tspan x={beside} dy={17 * unit}>
					{below}
				</tspan>
			</text>
		</g>
	);
}

/** useWidth returns the width of the map on the screen, in pixels. */
function useWidth(of: RefObject<SVGSVGElement>): number {
	const [width, setWidth] = useState<number>(size.width);
	useEffect(() => {
		const element = of.current;
		if (!element) {
			return;
		}
		const resized = new ResizeObserver(() =>
			setWidth(Math.max(1, Math.min(element.clientWidth, (element.clientHeight * size.width) / size.height))),
		);
		resized.observe(element);
		return () => resized.disconnect();
	}, [of]);
	return width;
}

/** Pinch is the start of a gesture of two fingers. */
interface Pinch {
	apart: number;
	middle: Fraction;
	view: View;
}

/**
 * useDrag moves the view with one pointer, and zooms it with two fingers. still reports whether the last press was a
 * click rather than a gesture, and touched whether it was made by a finger.
 */
function useDrag(view: View, setView: (view: View) => void) {
	const svg = useRef<SVGSVGElement>(null);
	const from = useRef<{ x: number; y: number; view: View } | undefined>(undefined);
	const pinch = useRef<Pinch>();
	const fingers = useRef(new Map<number, Fraction>()).current;
	const far = useRef(false);
	const finger = useRef(false);
	// The map is drawn in the middle of its element.
	const fraction = ({ clientX, clientY }: { clientX: number; clientY: number }): Fraction | undefined => {
		const box = svg.current?.getBoundingClientRect();
		if (!box?.width || !box.height) {
			return undefined;
		}
		const width = Math.min(box.width, (box.height * size.width) / size.height);
		const height = (width * size.height) / size.width;
		return { x: (clientX - box.left - (box.width - width) / 2) / width, y: (clientY - box.top - (box.height - height) / 2) / height };
	};
	const spread = (): Omit<Pinch, 'view'> | undefined => {
		const [one, other] = [...fingers.values()];
		return one && other
			? {
					apart: Math.hypot((one.x - other.x) * size.width, (one.y - other.y) * size.height),
					middle: { x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 },
				}
			: undefined;
	};
	const ended = (event: PointerEvent) => {
		fingers.delete(event.pointerId);
		from.current = undefined;
		pinch.current = undefined;
	};
	const handlers = {
		// A gesture of two fingers must not scroll the page.
		onTouchStart: (event: TouchEvent) => {
			if (event.touches.length > 1) {
				event.preventDefault();
			}
		},
		onPointerDown: (event: PointerEvent) => {
			finger.current = event.pointerType === 'touch';
			const at = fraction(event);
			if (finger.current && at) {
				fingers.set(event.pointerId, at);
			}
			const start = spread();
			if (start) {
				far.current = true;
				from.current = undefined;
				pinch.current = { ...start, view };
				return;
			}
			far.current = false;
			from.current = view.zoom > 1 ? { x: event.clientX, y: event.clientY, view } : undefined;
		},
		onPointerMove: (event: PointerEvent) => {
			const at = fraction(event);
			if (at && fingers.has(event.pointerId)) {
				fingers.set(event.pointerId, at);
			}
			const [begun, now] = [pinch.current, spread()];
			if (begun && now) {
				setView(pinched(begun.view, now.apart / Math.max(1, begun.apart), begun.middle, now.middle));
				return;
			}
			const start = from.current;
			const width = svg.current?.clientWidth;
			if (!start || !width) {
				return;
			}
			const scale = size.width / start.view.zoom / width;
			const [x, y] = [event.clientX - start.x, event.clientY - start.y];
			if (Math.hypot(x, y) > 4 || far.current) {
				far.current = true;
				setView(within({ ...start.view, x: start.view.x - x * scale, y: start.view.y - y * scale }));
			}
		},
		onPointerUp: ended,
		onPointerCancel: ended,
		onPointerLeave: ended,
	};
	return { svg, handlers, fraction, still: () => !far.current, touched: () => finger.current };
}
