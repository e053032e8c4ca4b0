import { useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { api, unwrap } from '../api/client';
import { number } from '../format';
import { t } from '../i18n';
import { Badge, Time } from '../ui/Badge';
import { Empty, Fetched } from '../ui/FetchState';
import { Page } from '../ui/Page';
import { Table } from '../ui/Table';
import { RequireScope } from './AirLegend';

/** Sources lists the sources of readings: last run, age of the data, and sums over the last 24 hours. */
export function Sources(): JSX.Element {
	const query = useQuery({
		queryKey: ['sources'],
		queryFn: ({ signal }) => unwrap(api.GET('/v1/sources', { signal })),
		refetchInterval: 60_000,
	});
	return (
		<Page title={t('shell.sources')}>
			<RequireScope>
				<p class="hint">{t('air.sources.about')}</p>
				<Fetched query={query}>
					{({ data }) =>
						data.length === 0 ? (
							<Empty title={t('air.sources.none')} />
						) : (
							<Table
								caption={t('shell.sources')}
								rows={data}
								id={(row) => row.source}
								columns={[
									{ name: t('air.source'), show: (row) => <code>{row.source}</code> },
									{ name: t('air.sources.outcome'), show: (row) => <Outcome outcome={row.last_run.outcome} /> },
									{ name: t('air.sources.run'), show: (row) => <Time at={row.last_run.started_at} relative /> },
									{ name: t('air.sources.newest'), show: (row) => <Time at={row.newest_reading_at} relative /> },
									{ name: t('air.sources.stored'), figure: true, show: (row) => number(row.last_24_hours.stored) },
									{
										name: t('air.sources.failed'),
										figure: true,
										show: ({ last_24_hours: day }) => t('air.sources.of', { failed: number(day.failed), runs: number(day.runs) }),
									},
									{ name: t('air.sources.rejected'), show: (row) => <Rejected reasons={row.last_24_hours.rejected} /> },
								]}
							/>
						)
					}
				</Fetched>
			</RequireScope>
		</Page>
	);
}

/** Outcome shows the outcome of a run. Failed runs show the word of the API, which documents and metrics use, too. */
function Outcome(props: { outcome: string }): JSX.Element {
	return props.outcome === 'done' ? (
		<Badge tone="good">{t('air.sources.done')}</Badge>
	) : (
		<Badge tone="bad">{props.outcome.replaceAll('_', ' ')}</Badge>
	);
}

/** Rejected shows the numbers of rejected values by reason, the largest first. */
function Rejected(props: { reasons: Readonly<Record<string, number>> }): JSX.Element {
	const reasons = Object.entries(props.reasons).sort(([, a], [, b]) => b - a);
	if (reasons.length === 0) {
		return <>0</>;
	}
	return (
		<ul class="reasons">
			{reasons.map(([reason, count]) => (
				<li key={reason}>
					{number(count)} <code>{reason}</code>
				</li>
			))}
		</ul>
	);
}
