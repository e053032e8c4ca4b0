import type { JSX } from 'preact';
import { lazy } from 'preact/compat';
import { useMemo, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { number } from '../format';
import { cityName, locale, stateBeside, stateName, stateOptions, t } from '../i18n';
import { Time } from '../ui/Badge';
import { Empty, Fetched } from '../ui/FetchState';
import { Select } from '../ui/Field';
import { FilterForm } from '../ui/FilterForm';
import { LazyPart } from '../ui/LazyPart';
import { Card, Page } from '../ui/Page';
import { Segments } from '../ui/Segments';
import { useFilters } from '../ui/useFilters';
import { few, useNarrow } from '../ui/useNarrow';
import { useMinute } from '../ui/useNow';
import { Index, Legend, RequireScope, titleOf } from './AirLegend';
import { lastReported } from './age';
import { figureOf, notReporting } from './category';
import { credits } from './history';
import { hourOf, lastHour, placesIn, useHour, usePresent } from './hours';
import { IndiaMap } from './IndiaMap';
import { NearMe } from './NearMe';
import { aged, cityPath, fresh, groupOf, type Layer, type Order, type Place, showing, sorted, usePlaces } from './places';
import { Search } from './Search';
import { bandIn, bandsOf, figuresOf, onScale, type Scale, scaleOf, scales } from './scale';
import { surfaceOf } from './surface';
import { TimeSlider } from './TimeSlider';
import './map.css';
import './scale.css';

const DetailedMap = lazy(async () => (await import('./DetailedMap')).DetailedMap);

/** Cities is the start page: the air quality of India on a map and as a list. */
export function Cities(): JSX.Element {
	return (
		<Page title={t('shell.map')}>
			<RequireScope>
				<Overview />
			</RequireScope>
		</Page>
	);
}

function Overview(): JSX.Element {
	const [filters, change] = useFilters(['layer', 'state', 'category', 'order', 'at', 'of', 'scale', 'map', 'surface', 'hour']);
	const layer: Layer = filters.layer === 'stations' ? 'stations' : 'cities';
	const query = usePlaces(layer);
	const now = useMinute();
	const current = useMemo(() => aged(query.data ?? [], now), [query.data, now]);
	const detailed = filters.map === 'detailed';
	// No filter may hide the place near the reader from the list and the map.
	const near = ({ id }: Place) => change({ at: id, state: '', category: '' });
	return (
		<>
			<div class="search-row">
				<Search />
				<NearMe places={query.data && current} onChoose={near} />
			</div>
			<div class="map-choices">
				<Segments
					label={t('air.layer')}
					value={layer}
					options={[
						['cities', t('air.cities')],
						['stations', t('air.stations')],
					]}
					change={(one) => change({ layer: one === 'cities' ? '' : one, at: '', hour: '', scale: '' })}
				/>
				<Segments
					label={t('air.map.type')}
					value={detailed ? 'detailed' : 'simple'}
					options={[
						['simple', t('air.map.simple')],
						['detailed', t('air.map.detailed')],
					]}
					change={(one) => change({ map: one === 'simple' ? '' : one, ...(one === 'simple' && { surface: '', hour: '' }) })}
				/>
			</div>
			<Fetched query={query}>
				{(places) =>
					places.length === 0 ? (
						<Empty title={t('air.none')}>
							<p>{t('air.none.hint')}</p>
							<Link href="/sources">{t('shell.sources')}</Link>
						</Empty>
					) : (
						<Places places={places} layer={layer} filters={filters} change={change} />
					)
				}
			</Fetched>
		</>
	);
}

type Filters = ReturnType<typeof useFilters<'layer' | 'state' | 'category' | 'order' | 'at' | 'of' | 'scale' | 'map' | 'surface' | 'hour'>>;

function Places(props: { places: readonly Place[]; layer: Layer; filters: Filters[0]; change: Filters[1] }): JSX.Element {
	const { layer, filters, change } = props;
	const now = useMinute();
	const figure = layer === 'stations' ? figureOf(filters.of ?? null) : 'aqi';
	const detailed = filters.map === 'detailed';
	const last = lastHour(now);
	const hour = detailed && layer === 'stations' ? hourOf(filters.hour, last) : undefined;
	const wanted = layer === 'stations' ? scaleOf(filters.scale) : 'in';
	const past = useHour(hour, last, wanted);
	const inHour = hour ? past.data : undefined;
	const present = usePresent(wanted, wanted !== 'in' && !inHour);
	// Until the figures on another scale arrive, the map shows the previous scale, and India's if no hour is chosen.
	const scale = inHour?.scale ?? (present.data ? wanted : 'in');
	const places = useMemo(() => {
		const shown = inHour ? placesIn(props.places, inHour) : props.places;
		const found = inHour ? inHour.stations : present.data;
		const figures = shown.map((one) => (scale === 'in' ? showing(one, figure) : onScale(one, scale, figure, found?.get(one.id))));
		return inHour ? figures : aged(figures, now);
	}, [props.places, figure, now, inHour, scale, present.data]);
	const order: Order = filters.order === 'best' || filters.order === 'name' ? filters.order : 'worst';
	const { state = '', category = '' } = filters;
	const inState = useMemo(() => places.filter((place) => !state || place.state === state), [places, state]);
	const counts = useMemo(() => {
		const found = new Map<string, number>();
		for (const place of inState) {
			found.set(groupOf(place), (found.get(groupOf(place)) ?? 0) + 1);
		}
		return found;
	}, [inState]);
	const shown = useMemo(
		() =>
			sorted(
				inState.filter((place) => !category || groupOf(place) === category),
				order,
				locale.value,
			),
		[inState, category, order],
	);
	const states = useMemo(() => [...new Set(places.map((place) => place.state))].filter(Boolean), [places]);
	const chosen = places.find((place) => place.id === filters.at);
	const age = fresh(shown);
	const silent = shown.filter(({ stale }) => stale).length;
	// A state without places is not in the filter.
	const pick = (name: string) => change({ state: states.includes(name) ? name : '' });
	const map = { places: shown, layer, state, chosen, onChoose: (place: Place) => change({ at: place.id }), onState: pick };
	return (
		<>
			<Legend
				figure={figure}
				scale={scale}
				title={scale === 'in' && (figure !== 'aqi' || (detailed && filters.surface)) ? titleOf(figure) : undefined}
				counts={counts}
				chosen={category}
				choose={(word) => change({ category: word ?? '' })}
			/>
			<div class="overview">
				<Card>
					{detailed ? (
						<LazyPart>
							<DetailedMap
								{...map}
								surface={surfaceOf(inHour ? '' : filters.surface)}
								onSurface={inHour ? undefined : (one) => change({ surface: one === 'none' ? '' : one })}
							>
								{layer === 'stations' && (
									<TimeSlider
										last={last}
										at={hour}
										shown={inHour?.hour}
										failed={past.isError}
										change={(one) => change({ hour: one ?? '' }, { replace: true })}
									/>
								)}
							</DetailedMap>
							{layer === 'cities' && <p class="hint">{t('air.time.stations')}</p>}
						</LazyPart>
					) : (
						<IndiaMap {...map} />
					)}
				</Card>
				<Card>
					<FilterForm
						values={{ state, category, order: filters.order, of: filters.of, scale: filters.scale }}
						reset={() => change({ state: '', category: '', order: '', of: '', scale: '' })}
					>
						{layer === 'stations' && (
							<>
								<Select
									label={t('air.figure')}
									value={figure}
									options={figuresOf(wanted, t('air.index'))}
									change={(one) => change({ of: one === 'aqi' ? '' : one })}
								/>
								<Select
									label={t('air.scale')}
									value={wanted}
									options={scales.map(({ id, name }) => [id, t(name)] as const)}
									change={(one) => change({ scale: one === 'in' ? '' : one, category: category === notReporting ? category : '' })}
								/>
							</>
						)}
						<Select
							label={t('air.state')}
							value={state}
							options={[['', t('air.india')], ...stateOptions(states)]}
							change={(value) => change({ state: value, at: '' })}
						/>
						<Select
							label={t('air.category')}
							value={category === notReporting ? category : (bandIn(wanted, category)?.word ?? '')}
							options={[
								['', t('air.every')],
								...bandsOf(wanted).map((band) => [band.word, t(band.name)] as const),
								[notReporting, t('air.stale')],
							]}
							change={(value) => change({ category: value })}
						/>
						<Select
							label={t('air.order')}
							value={order}
							options={[
								['worst', t('air.worst')],
								['best', t('air.best')],
								['name', t('air.byname')],
							]}
							change={(value) => change({ order: value })}
						/>
					</FilterForm>
					{wanted !== 'in' && (
						<p class="hint" role="status">
							{noted(wanted)} {!inHour && present.isPending && t('air.scale.loading')}
							{!inHour && present.isError && t('air.scale.failed')}
						</p>
					)}
					<div role="status">
						<p class="hint">
							{state && <b>{`${stateName(state)}. `}</b>}
							{t(silent > 0 && !inHour ? 'air.count.reporting' : `air.count.${layer}`, { count: number(shown.length - silent) })}
							{silent > 0 && ` ${t(inHour ? 'air.time.none.count' : 'air.stale.count', { count: number(silent) })}`}
							{age && (
								<>
									{' '}
									{t(inHour ? 'air.time.hour' : 'air.newest')} <Time at={age.newest} />
									{age.oldest !== age.newest && (
										<>
											, {t('air.oldest')} <Time at={age.oldest} />
										</>
									)}
								</>
							)}
						</p>
					</div>
					<List
						key={`${layer} ${state} ${category} ${order}`}
						places={shown}
						chosen={chosen}
						now={now}
						onChoose={(place) => change({ at: place.id })}
					/>
				</Card>
				<div class="chosen-place" role="status">
					{chosen && <Chosen place={chosen} now={now} />}
				</div>
			</div>
		</>
	);
}

function Chosen(props: { place: Place; now: Date }): JSX.Element {
	const { place } = props;
	return (
		<div class="chosen">
			<Index aqi={place.aqi} category={place.category} scale={place.scale} stale={place.stale} />
			<span>
				<b>{[cityName(place.name), stateBeside(place.name, place.state)].filter(Boolean).join(', ')}</b>
				<span class="hint">
					{place.stale ? silence(place, props.now) : <Time at={place.updated} relative={!place.hour} />}
					{place.stations !== undefined && ` · ${t('air.stations.count', { count: place.stations })}`}
					{place.kind && ` · ${t(`air.kind.${place.kind}`)}`}
					{place.source && ` · ${credits([place.source])}`}
				</span>
			</span>
			{place.city && (
				<Link class="primary" href={cityPath(place.city)}>
					{t('air.open', { city: cityName(place.city) })}
				</Link>
			)}
		</div>
	);
}

/** noted says what the figures of a scale are. */
function noted(scale: Scale): string {
	const note = scales.find(({ id }) => id === scale)?.note;
	return note ? t(note) : '';
}

/** silence says why a place has no figures: it did not report in the chosen hour, or its last figures are old. */
function silence(place: Place, now: Date): string {
	return place.hour ? t('air.time.none') : lastReported(place.updated, now);
}

const page = 100;

function List(props: { places: readonly Place[]; chosen: Place | undefined; now: Date; onChoose: (place: Place) => void }): JSX.Element {
	const [most, setMost] = useState(page);
	const narrow = useNarrow();
	const shown = narrow && most === page ? few : most;
	if (props.places.length === 0) {
		return <Empty title={t('air.nomatch')}>{t('air.nomatch.hint')}</Empty>;
	}
	return (
		<>
			<ol class="places" aria-label={t('air.list')}>
				{props.places.slice(0, shown).map((place) => (
					<li key={place.id}>
						<button type="button" aria-pressed={place.id === props.chosen?.id} onClick={() => props.onChoose(place)}>
							<Index aqi={place.aqi} category={place.category} scale={place.scale} stale={place.stale} />
							<span class="place-name">
								{cityName(place.name)} <span class="hint">{stateBeside(place.name, place.state)}</span>
								{place.stale && <span class="hint last">{silence(place, props.now)}</span>}
							</span>
						</button>
						{place.city && (
							<Link href={cityPath(place.city)} aria-label={t('air.open', { city: cityName(place.city) })}>
								{narrow ? '›' : t('air.details')}
							</Link>
						)}
					</li>
				))}
			</ol>
			{props.places.length > shown && (
				<button type="button" onClick={() => setMost(most + 2 * page)}>
					{t('state.more')}
				</button>
			)}
		</>
	);
}
