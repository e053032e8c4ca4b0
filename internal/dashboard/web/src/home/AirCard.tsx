import { useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { Link } from 'wouter-preact';
import { Index } from '../air/AirLegend';
import { isStale } from '../air/age';
import { cityPath } from '../air/places';
import { Search } from '../air/Search';
import { save, saved } from '../air/saved';
import { api, unwrap } from '../api/client';
import { cityName, t } from '../i18n';
import { Time } from '../ui/Badge';
import { Fetched } from '../ui/FetchState';
import { useMinute } from '../ui/useNow';
import { HomeCard } from './HomeCard';

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
			<div class="home-air">
				{names.length === 0 ? (
					<p class="hint">{t('home.air.none')}</p>
				) : (
					<div class="flow">
						<Fetched query={query}>
							{(results) => (
								<>
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
					</div>
				)}
				<Search label={t('home.air.add')} pins={false} onCity={(name) => save(name, true)} />
			</div>
		</HomeCard>
	);
}
