import type { JSX } from 'preact';
import type { Schemas } from '../api/client';
import { day, number } from '../format';
import { t } from '../i18n';
import { byDay } from './sums';

const tall = 100;

/** A bar is no wider than it is in a month. */
const fewest = 31;

/** UsageByDay draws calls per day as bars, those that failed at their foot. The figures stand in the tables beside it. */
export function UsageByDay(props: { of: readonly Schemas['UsageDay'][] }): JSX.Element {
	const days = byDay(props.of);
	const most = Math.max(1, ...days.map((of) => of.calls));
	return (
		<svg
			class="days"
			viewBox={`0 0 ${Math.max(days.length, fewest) * 10} ${tall}`}
			preserveAspectRatio="none"
			role="img"
			aria-label={t('account.calls.chart', { most: number(most) })}
		>
			{days.map((of, i) => (
				<g key={of.date}>
					<title>{`${day(of.date)}: ${number(of.calls)} / ${number(of.failed)}`}</title>
					<rect class="calls" x={i * 10 + 1} width={8} y={tall - (of.calls / most) * tall} height={(of.calls / most) * tall} />
					<rect class="failed" x={i * 10 + 1} width={8} y={tall - (of.failed / most) * tall} height={(of.failed / most) * tall} />
				</g>
			))}
		</svg>
	);
}
