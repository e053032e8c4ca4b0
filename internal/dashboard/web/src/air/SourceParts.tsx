import type { JSX } from 'preact';
import { number } from '../format';
import { t } from '../i18n';
import { Badge, Time } from '../ui/Badge';
import type { SourceRow } from './coverage';
import { outcomeText, reasonText } from './sourceTexts';
import './sources.css';

/** State shows the state of a source and the names of its problems. */
export function State(props: { of: SourceRow }): JSX.Element {
	const { state, problems } = props.of;
	if (state !== 'degraded') {
		return <Badge tone={state === 'good' ? 'good' : 'quiet'}>{t(`air.sources.state.${state}`)}</Badge>;
	}
	return (
		<ul class="reasons" aria-label={t('air.sources.problems')}>
			{problems.map(({ problem }) => (
				<li key={problem}>
					<Badge tone="warn">{t(`air.sources.problem.${problem}`)}</Badge>
				</li>
			))}
		</ul>
	);
}

/** Outcome shows the outcome of a run. */
export function Outcome(props: { outcome: string }): JSX.Element {
	return props.outcome === 'done' ? (
		<Badge tone="good">{t('air.sources.done')}</Badge>
	) : (
		<Badge tone="bad">{outcomeText(props.outcome)}</Badge>
	);
}

/** LastRun shows the outcome of the last run, and when it started. */
export function LastRun(props: { of: SourceRow['last_run'] }): JSX.Element {
	const { outcome, started_at } = props.of;
	return (
		<>
			<Outcome outcome={outcome} /> <Time at={started_at} relative />
		</>
	);
}

/** Reasons shows how many values were rejected, and below that the reasons, the most frequent first. */
export function Reasons(props: { of: Readonly<Record<string, number>> }): JSX.Element {
	const reasons = Object.entries(props.of).sort(([, a], [, b]) => b - a);
	if (reasons.length === 0) {
		return <>0</>;
	}
	const [[only]] = reasons as [[string, number]];
	return (
		<>
			{number(reasons.reduce((sum, [, count]) => sum + count, 0))}
			<ul class="reasons hint">
				{reasons.length === 1 ? (
					<li>{reasonText(only)}</li>
				) : (
					reasons.map(([reason, count]) => (
						<li key={reason}>
							{number(count)} {reasonText(reason)}
						</li>
					))
				)}
			</ul>
		</>
	);
}
