import type { JSX } from 'preact';
import type { Schemas } from '../api/client';
import { day, number } from '../format';
import { t } from '../i18n';
import { byDay } from './sums';

const tall = 100;

/** fewest is the number of days below which bars do not become wider. */
const fewest = 31;

/**
 * UsageByDay draws the calls of each day as bars, with the failed ones at the bottom. Tables on the page repeat
 * the figures.
 */
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
