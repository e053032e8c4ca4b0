import type { JSX } from 'preact';
import type { Schemas } from '../api/client';
import { day, number } from '../format';
import { t } from '../i18n';
import { byDay } from './sums';

const tall = 100;

/** room is the number of digits for which the chart has room. With more of them, only the tallest bar has its value. */
const room = 130;

/**
 * UsageByDay draws the calls of each day of a period as bars with their values, and with the failed ones at the bottom.
 * Tables on the page repeat the figures.
 */
export function UsageByDay(props: { of: readonly Schemas['UsageDay'][]; from: string; to: string }): JSX.Element {
	const days = byDay(props.of, props.from, props.to);
	const most = Math.max(1, ...days.map((of) => of.calls));
	const [first, last] = [days[0]?.date ?? props.from, days.at(-1)?.date ?? props.to];
	const roomy = days.length * number(most).length <= room;
	return (
		<figure class={`usage ${days.length > 8 ? 'many' : ''}`}>
			<figcaption class="hint">
				<span class="key calls" aria-hidden="true" /> {t('account.calls.calls')} <span class="key failed" aria-hidden="true" />{' '}
				{t('account.calls.failed')}
			</figcaption>
			<div class="plot">
				<div class="scale" aria-hidden="true">
					<span>{number(most)}</span>
					<span>0</span>
				</div>
				<div class="bars">
					<svg
						class="days"
						viewBox={`0 0 ${days.length * 10} ${tall}`}
						preserveAspectRatio="none"
						role="img"
						aria-label={t('account.calls.chart', { most: number(most), from: day(first), to: day(last) })}
					>
						{days.map((of, i) => (
							<g key={of.date}>
								<title>{`${day(of.date)}: ${number(of.calls)} / ${number(of.failed)}`}</title>
								<rect class="calls" x={i * 10 + 1} width={8} y={tall - (of.calls / most) * tall} height={(of.calls / most) * tall} />
								<rect class="failed" x={i * 10 + 1} width={8} y={tall - (of.failed / most) * tall} height={(of.failed / most) * tall} />
							</g>
						))}
					</svg>
					{days.map(
						(of, i) =>
							of.calls > 0 &&
							(roomy || of.calls === most) && (
								<span
									key={of.date}
									class={`value ${of.calls === most ? 'top' : ''}`}
									style={{ left: `${((i + 0.5) / days.length) * 100}%`, bottom: `${(of.calls / most) * 100}%` }}
									aria-hidden="true"
								>
									{number(of.calls)}
								</span>
							),
					)}
				</div>
				<div class="dates" aria-hidden="true">
					<span>{day(first)}</span>
					{last !== first && <span>{day(last)}</span>}
				</div>
			</div>
		</figure>
	);
}
