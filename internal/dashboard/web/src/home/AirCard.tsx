import { useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { Link } from 'wouter-preact';
import { Index } from '../air/AirLegend';
import { isStale } from '../air/age';
import { bandOf } from '../air/category';
import { cityPath } from '../air/places';
import { Search } from '../air/Search';
import { save, saved } from '../air/saved';
import { api, unwrap } from '../api/client';
import { number } from '../format';
import { cityName, t } from '../i18n';
import { Time } from '../ui/Badge';
import { Fetched } from '../ui/FetchState';
import { useMinute } from '../ui/useNow';
import { Figure, HomeCard } from './HomeCard';

/** fetchNow fetches the present records of cities in their order. */
async function fetchNow(names: readonly string[], signal: AbortSignal) {
	const reply = await unwrap(api.GET('/v1/aqi', { params: { query: { cities: names.join(',') } }, signal }));
	return 'results' in reply ? reply.results : [];
}

/** AirCard shows the air of the saved cities now, and adds cities. */
export function AirCard(): JSX.Element {
	const names = saved.value;
	const now = useMinute();
	const query = useQuery({
		queryKey: ['air', 'home', names],
		enabled: names.length > 0,
		queryFn: ({ signal }) => fetchNow(names, signal),
	});
	return (
		<HomeCard title={t('home.air')} to="/" link={t('shell.map')}>
			<div class="home-air flow">
				{names.length === 0 && <p class="hint">{t('home.air.none')}</p>}
				{names.length > 0 && (
					<Fetched query={query}>
						{(results) => (
							<>
								<Worst of={results} now={now} />
								<ul class="home-list">
									{results.map((result, index) => (
										<li key={names[index]}>
											<Link href={cityPath(result.city)}>{cityName(result.city)}</Link>
											{result.status === 'error' ? (
												<span class="hint">{result.error.message}</span>
											) : (
												<>
													<Index
														aqi={result.aqi}
														category={result.category}
														stale={isStale({ stale: false, updated: result.updated }, now)}
													/>
													<span class="hint">
														<Time at={result.updated} relative />
													</span>
												</>
											)}
											<button
												type="button"
												class="small"
												aria-label={t('home.air.remove', { city: cityName(result.city) })}
												onClick={() => save(names[index] ?? result.city, false)}
											>
												×
											</button>
										</li>
									))}
								</ul>
							</>
						)}
					</Fetched>
				)}
				<Search label={t('home.air.add')} pins={false} onCity={(name) => save(name, true)} />
			</div>
		</HomeCard>
	);
}

/** Worst shows the highest index of the saved cities that have a current one. */
function Worst(props: { of: Awaited<ReturnType<typeof fetchNow>>; now: Date }): JSX.Element | undefined {
	const current = props.of.flatMap((one) =>
		one.status === 'error' || one.aqi === null || isStale({ stale: false, updated: one.updated }, props.now)
			? []
			: [{ city: one.city, aqi: one.aqi, band: bandOf(one.category) }],
	);
	const [worst] = current.sort((a, b) => b.aqi - a.aqi);
	return props.of.length > 1 && worst ? (
		<Figure value={t('home.air.aqi', { aqi: number(worst.aqi) })}>
			{[t('home.air.worst', { city: cityName(worst.city) }), worst.band && t(worst.band.name)].filter(Boolean).join(', ')}
		</Figure>
	) : undefined;
}
