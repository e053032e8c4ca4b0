import { DivIcon, DomUtil, LayerGroup, Map as LeafletMap, Marker, SVGOverlay, TileLayer } from 'leaflet';
import 'leaflet/dist/leaflet.css';
import './detailedMap.css';
import type { ComponentChildren, JSX, RefObject } from 'preact';
import { render } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Outline } from '../../outlines';
import { number } from '../format';
import { cityName, language, stateName, t } from '../i18n';
import { Select } from '../ui/Field';
import { Legend, titleOf } from './AirLegend';
import { toneOf } from './category';
import { type Area, clustered, type Group } from './clusters';
import type { MapProps } from './IndiaMap';
import { MapTools } from './MapTools';
import { Credit, useOutlines } from './outline';
import type { Place } from './places';
import { boundsOf, corners, size } from './projection';
import { bandIn } from './scale';
import { type Surface, surfaces } from './surface';

// The drawn borders are exact to about two kilometres, so a closer view would mislead.
const closest = 11;

// The step of the reader's zoom.
const step = 0.25;

// From this zoom on, a mark has the name of its place.
const named = 7;

type Bounds = [[number, number], [number, number]];

const whole: Bounds = [
	[6.5, 68],
	[37.2, 97.5],
];

// In pixels: more than half of a mark, so that no mark at the edge of a state is cut.
const edge = 26;

/** fitted holds the bounds that a map shows, until the reader moves it. */
const fitted = new WeakMap<LeafletMap, Bounds>();

/**
 * showBounds shows bounds. All of India has space around its marks; a state gets a margin. Without an animation, a change of
 * the size never meets a map between two views.
 */
function showBounds(map: LeafletMap, bounds: Bounds): void {
	if (bounds === whole) {
		map.fitBounds(bounds, { animate: false });
	} else {
		// The next lower step of the zoom would leave a margin that is up to 16 % of the map wider.
		map.options.zoomSnap = 0;
		map.fitBounds(bounds, { animate: false, padding: [edge, edge] });
		map.options.zoomSnap = step;
	}
	// Every move of the map deletes them, also this one.
	fitted.set(map, bounds);
}

/** resized adapts a map to the size of its element. Bounds that were fitted are fitted again. */
function resized(map: LeafletMap): void {
	const { clientWidth, clientHeight } = map.getContainer();
	if (clientWidth === 0 || clientHeight === 0) {
		return; // The map is not shown. Without a size, no view fits.
	}
	const bounds = fitted.get(map);
	map.invalidateSize({ animate: false });
	if (bounds) {
		showBounds(map, bounds);
	}
}

/**
 * DetailedMap is a map with zoom, groups of places, names, and the surface of the interpolated air. It loads tiles of the
 * service only. The list beside it offers the same by keyboard, so marks react to pointers only. Its children stand
 * directly below the map.
 */
export function DetailedMap(
	props: MapProps & { surface: Surface; onSurface: ((surface: Surface) => void) | undefined; children?: ComponentChildren },
): JSX.Element {
	const frame = useRef<HTMLDivElement>(null);
	const map = useLeaflet(frame);
	const outlines = useOutlines();
	useStates(map, outlines, props);
	useSurface(map, props.surface);
	useMarks(map, props);
	useView(map, outlines, props);
	return (
		<div class="map">
			<div class="map-layers">
				<Select
					label={t('air.surface')}
					value={props.surface}
					options={[
						['none', t('air.surface.none')],
						['aqi', t('air.index')],
						['pm25', 'PM2.5'],
						['error', t('air.surface.error')],
					]}
					disabled={!props.onSurface}
					change={(surface) => props.onSurface?.(surface)}
				/>
				{!props.onSurface && <p class="hint">{t('air.time.surface')}</p>}
			</div>
			{(props.surface === 'aqi' || props.surface === 'pm25') && (
				<Legend figure={props.surface} title={`${t('air.surface')}: ${titleOf(props.surface)}`} />
			)}
			{/* The library adds classes to its element, so the classes that change are those of another. */}
			<div class={`detailed ${props.surface === 'none' ? '' : 'surfaced'}`}>
				<div ref={frame} class="detailed-frame" role="application" aria-roledescription={t('air.map')} aria-label={t('air.map.label')} />
				<MapTools
					zoomIn={() => map?.zoomIn()}
					zoomOut={() => map?.zoomOut()}
					whole={() => {
						if (map) {
							showBounds(map, whole);
						}
						props.onState('');
					}}
				/>
			</div>
			{props.children}
			<p class="hint">{t(props.layer === 'cities' ? 'air.map.simple.marks' : 'air.map.marks')}</p>
			{props.surface !== 'none' && <p class="hint">{t(props.surface === 'error' ? 'air.surface.error.hint' : 'air.surface.hint')}</p>}
			<Credit />
		</div>
	);
}

/** useLeaflet creates the map of the library in an element. It is undefined before the first render. */
function useLeaflet(frame: RefObject<HTMLDivElement>): LeafletMap | undefined {
	const [map, setMap] = useState<LeafletMap>();
	useEffect(() => {
		if (!frame.current) {
			return;
		}
		const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
		const made = new LeafletMap(frame.current, {
			...{ zoomControl: false, attributionControl: false, maxZoom: closest, zoomSnap: step, zoomDelta: 1 },
			...{ zoomAnimation: !still, fadeAnimation: false, markerZoomAnimation: !still, inertia: !still },
			trackResize: false, // resized does it
			maxBounds: [
				[0, 55],
				[42, 110],
			],
		});
		made.on('movestart', () => fitted.delete(made));
		showBounds(made, whole);
		// The key 0 shows all of India, as in IndiaMap.
		const pressed = (event: KeyboardEvent) => event.key === '0' && showBounds(made, whole);
		frame.current.addEventListener('keydown', pressed);
		const sizes = new ResizeObserver(() => resized(made));
		sizes.observe(frame.current);
		setMap(made);
		return () => {
			sizes.disconnect();
			made.remove();
		};
	}, [frame]);
	return map;
}

/** useStates draws the outlines of the states, above the surface, and hides the surface abroad. A click chooses a state. */
function useStates(map: LeafletMap | undefined, outlines: readonly Outline[], props: MapProps): void {
	const { state } = props;
	const choose = useRef(props.onState);
	choose.current = props.onState;
	useEffect(() => {
		if (!map || outlines.length === 0) {
			return;
		}
		const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
		svg.setAttribute('viewBox', `0 0 ${size.width} ${size.height}`);
		svg.setAttribute('preserveAspectRatio', 'none');
		svg.setAttribute('aria-hidden', 'true');
		// 1° beyond the corners: the surface ends 100 km from the nearest station.
		const beyond = { x: -25, y: -25, width: size.width + 50, height: size.height + 50 };
		render(
			<>
				<mask id="abroad" maskUnits="userSpaceOnUse" {...beyond}>
					<rect {...beyond} fill="#fff" />
					<path d={outlines.map(({ path }) => path).join('')} fill="#000" />
				</mask>
				<rect class="abroad" {...beyond} mask="url(#abroad)" />
				<g class="states">
					{outlines.map(({ name, path }) => (
						// biome-ignore lint/a11y/noStaticElementInteractions: the choice of a state is beside the map
						<path key={name} d={path} class={name === state ? 'on' : ''} onClick={() => choose.current(name)}>
							<title>{stateName(name)}</title>
						</path>
					))}
				</g>
			</>,
			svg,
		);
		const [southWest = [0, 0], northEast = [0, 0]] = corners;
		const layer = new SVGOverlay(
			svg,
			[
				[southWest[0], southWest[1]],
				[northEast[0], northEast[1]],
			],
			{ pane: 'tilePane', zIndex: 2 },
		).addTo(map);
		return () => {
			render(null, svg);
			layer.remove();
		};
	}, [map, outlines, state, language.value]);
}

/** useSurface shows the interpolated air in tiles of the service. */
function useSurface(map: LeafletMap | undefined, surface: Surface): void {
	useEffect(() => {
		if (!map || surface === 'none') {
			return;
		}
		const layer = new TileLayer(`/dashboard/v1/tiles/surface/{z}/{x}/{y}.png?${surfaces[surface]}`, {
			...{ maxNativeZoom: 9, className: 'surface' },
			bounds: whole,
		}).addTo(map);
		return () => {
			layer.remove();
		};
	}, [map, surface]);
}

/** useMarks draws the places of the visible part, and groups of them. */
function useMarks(map: LeafletMap | undefined, props: MapProps): void {
	const { chosen } = props;
	const marks = useMemo(() => clustered(props.places), [props.places]);
	const choose = useRef(props.onChoose);
	choose.current = props.onChoose;
	useEffect(() => {
		if (!map) {
			return;
		}
		const group = new LayerGroup().addTo(map);
		map.getPane('markerPane')?.setAttribute('aria-hidden', 'true');
		const draw = () => {
			group.clearLayers();
			const bounds = map.getBounds().pad(0.2);
			const area: Area = [bounds.getWest(), bounds.getSouth(), bounds.getEast(), bounds.getNorth()];
			const zoom = map.getZoom();
			const found = marks(area, zoom);
			const visible = map.getBounds();
			// The chosen place has a mark of its own, also where it is part of a group.
			if (chosen && !found.places.some(({ id }) => id === chosen.id)) {
				found.places.push(chosen);
			}
			for (const one of found.groups) {
				new Marker([one.at.latitude, one.at.longitude], { keyboard: false, icon: groupIcon(one) })
					.on('click', () => map.setView([one.at.latitude, one.at.longitude], Math.min(one.opens, closest)))
					.addTo(group);
			}
			for (const place of found.places.sort((a, b) => b.severity - a.severity)) {
				const { position } = place;
				if (position) {
					// The name of a mark outside the frame would seem to belong to another mark.
					const icon = placeIcon(place, zoom >= named && visible.contains([position[0], position[1]]), place.id === chosen?.id);
					new Marker([position[0], position[1]], {
						keyboard: false,
						icon,
						zIndexOffset: place.id === chosen?.id ? 1000 : place.severity * 10,
					})
						.on('click', () => choose.current(place))
						.addTo(group);
				}
			}
			placeNames(map.getContainer());
		};
		draw();
		map.on('moveend', draw);
		return () => {
			map.off('moveend', draw);
			group.remove();
		};
	}, [map, marks, chosen, language.value]);
}

/** covers reports whether two boxes on the screen overlap. */
function covers(one: DOMRect, other: DOMRect): boolean {
	return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
}

/**
 * placeNames moves names that extend beyond an edge of a frame inside it. A name that would cover a mark or another name is
 * hidden, except that of the chosen place. The first names are those of the worst places.
 */
function placeNames(frame: HTMLElement): void {
	const inside = frame.getBoundingClientRect();
	const taken = [...frame.querySelectorAll('.pin > span')].map((mark) => mark.getBoundingClientRect());
	const names = [...frame.querySelectorAll<HTMLElement>('.pin b')];
	for (const name of names.sort((a, b) => Number(b.matches('.chosen-pin b')) - Number(a.matches('.chosen-pin b')))) {
		const box = name.getBoundingClientRect();
		const right = Math.max(0, inside.left + 4 - box.left) - Math.max(0, box.right - inside.right + 4);
		// The name stands below its mark, and above it at the lower edge.
		const mark = name.previousElementSibling?.getBoundingClientRect() ?? box;
		const down = box.bottom > inside.bottom - 2 ? mark.top - box.bottom : 0;
		const moved = new DOMRect(box.x + right, box.y + down, box.width, box.height);
		name.style.translate = `${right}px ${down}px`;
		if (name.matches('.chosen-pin b') || !taken.some((other) => covers(moved, other))) {
			taken.push(moved);
		} else {
			name.style.visibility = 'hidden';
		}
	}
}

/** useView shows the chosen state, and brings the chosen place into sight. */
function useView(map: LeafletMap | undefined, outlines: readonly Outline[], props: MapProps): void {
	const { state, chosen } = props;
	const shown = useRef('');
	useEffect(() => {
		if (!map || state === shown.current) {
			return;
		}
		const boxes = outlines.filter(({ name }) => name === state).map(({ box }) => box);
		// A station may stand beyond the border of its state.
		const marks = props.places.flatMap(({ at }) => (at && boxes.length > 0 ? [[at[0], at[1], 0, 0] satisfies Outline['box']] : []));
		const bounds = state ? boundsOf([...boxes, ...marks]) : whole;
		if (bounds) {
			shown.current = state;
			showBounds(map, bounds);
		}
	}, [map, outlines, state]);
	useEffect(() => {
		const at = chosen?.position;
		if (map && at) {
			map.setView([at[0], at[1]], Math.max(map.getZoom(), named));
		}
	}, [map, chosen?.id]);
}

/** icon returns a mark, centred on its position. Texts in the mark are not interpreted as HTML. */
function icon(classes: string, text: string, title: string, label: string | undefined, height: number): DivIcon {
	const element = DomUtil.create('div', `pin ${classes}`);
	element.title = title;
	DomUtil.create('span', '', element).textContent = text;
	if (label) {
		DomUtil.create('b', '', element).textContent = label;
	}
	return new DivIcon({ html: element, className: '', iconSize: [44, height], iconAnchor: [22, height / 2] });
}

function groupIcon({ count, worst, stale, hour }: Group): DivIcon {
	const title = stale
		? t(hour ? 'air.time.none.count' : 'air.stale.count', { count: number(count) })
		: `${t('air.map.group', { count: number(count) })}${worst ? ` ${cityName(worst.name)}: ${figureOf(worst)}` : ''}`;
	return icon(`group ${stale ? 'stale' : toneOf(bandIn(worst?.scale, worst?.category))}`, `×${number(count)}`, title, undefined, 38);
}

/** figureOf writes the figure of a place with its category. */
function figureOf({ aqi, category, scale }: Place): string {
	const band = bandIn(scale, category);
	return `${aqi === null ? '–' : number(aqi)} ${band ? t(band.name) : t('air.noindex')}`;
}

function placeIcon(place: Place, label: boolean, chosen: boolean): DivIcon {
	const { aqi, stale, kind, name } = place;
	const classes = [stale ? 'stale' : toneOf(bandIn(place.scale, place.category)), kind ?? '', chosen ? 'chosen-pin' : ''].join(' ');
	const title = [
		name,
		stale ? t(place.hour ? 'air.time.none' : 'air.stale') : figureOf(place),
		...(kind ? [t(`air.kind.${kind}`)] : []),
	].join(', ');
	return icon(classes, stale || aqi === null ? '–' : number(Math.round(aqi * 10) / 10), title, label || chosen ? name : undefined, 24);
}
