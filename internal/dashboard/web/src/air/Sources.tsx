import type { JSX } from 'preact';
import { Link } from 'wouter-preact';
import { number } from '../format';
import { t } from '../i18n';
import { Time } from '../ui/Badge';
import { Empty, Fetched } from '../ui/FetchState';
import { Card, Page } from '../ui/Page';
import { Table } from '../ui/Table';
import { RequireScope } from './AirLegend';
import { CoverageStrip } from './Coverage';
import { LastRun, Reasons, State } from './SourceParts';
import { sourcePath, useSources } from './sourceQueries';
import { sourceName } from './sourceTexts';

/** Sources lists the sources of readings: state, last run, age of the data, and sums over the last 24 hours. */
export function Sources(): JSX.Element {
	const query = useSources();
	return (
		<Page title={t('shell.sources')}>
			<RequireScope>
				<p class="hint">{t('air.sources.about')}</p>
				<Fetched query={query}>
					{({ data }) =>
						data.length === 0 ? (
							<Empty title={t('air.sources.none')} />
						) : (
							<Card class="sources">
								<Table
									caption={t('shell.sources')}
									rows={data}
									id={(row) => row.source}
									columns={[
										{ name: t('air.source'), show: ({ source }) => <Link href={sourcePath(source)}>{sourceName(source)}</Link> },
										{ name: t('air.sources.state'), show: (row) => <State of={row} /> },
										{ name: t('air.sources.outcome'), show: (row) => <LastRun of={row.last_run} /> },
										{ name: t('air.sources.newest'), show: (row) => <Time at={row.newest_reading_at} relative /> },
										{ name: t('air.sources.coverage'), show: (row) => <CoverageStrip of={row.coverage} /> },
										{ name: t('air.sources.stored'), figure: true, show: (row) => number(row.last_24_hours.stored) },
										{
											name: t('air.sources.failed'),
											figure: true,
											show: ({ last_24_hours: day }) => t('air.sources.of', { failed: number(day.failed), runs: number(day.runs) }),
										},
										{ name: t('air.sources.rejected'), figure: true, show: (row) => <Reasons of={row.last_24_hours.rejected} /> },
									]}
								/>
							</Card>
						)
					}
				</Fetched>
			</RequireScope>
		</Page>
	);
}
