import type { JSX } from 'preact';
import { dayOfMonth, hour as hourText, number } from '../format';
import { t } from '../i18n';
import { daysOf, type Hour, hoursOf, type Level, limits, type SourceRow } from './coverage';
import './sources.css';

type Of = SourceRow['coverage'];

const levels: readonly Level[] = ['full', 'some', 'low', 'none', 'open'];

const dayHours: readonly number[] = Array.from({ length: 24 }, (_, hour) => hour);

/** leastWidth is the width of a low hour in hours, so that a single one is seen. */
const leastWidth = 5;

const isLow = (level: Level) => level === 'low' || level === 'none';

/** CoverageStrip shows the hours of 7 days as one line of colours, and below it how many are low. */
export function CoverageStrip(props: { of: Of }): JSX.Element {
	const hours = hoursOf(props.of);
	const low = hours.filter(({ level }) => isLow(level)).length;
	const text = t('air.sources.coverage.row', { low: number(low), hours: number(hours.length), limit: number(limits.low) });
	const compared = hours.some(({ level }) => level !== 'open');
	return (
		<>
			<svg class="coverage-strip" role="img" aria-label={text} viewBox={`0 0 ${hours.length} 12`} preserveAspectRatio="none">
				<title>{text}</title>
				<rect class={compared ? 'coverage-full' : 'coverage-open'} width={hours.length} height="12" />
				{hours.map(
					({ end, level }, i) =>
						level !== 'full' && (
							<rect
								key={end}
								class={`coverage-${level}`}
								x={isLow(level) ? Math.min(i, hours.length - leastWidth) : i}
								width={isLow(level) ? leastWidth : 1}
								height="12"
							/>
						),
				)}
			</svg>
			<span class="hint" aria-hidden="true">
				{compared ? t('air.sources.coverage.lows', { low: number(low) }) : t('air.sources.coverage.open')}
			</span>
		</>
	);
}

/** CoverageMap shows the hours of 7 days as a table of days and hours in India. */
export function CoverageMap(props: { of: Of }): JSX.Element {
	const caption = t('air.sources.coverage');
	return (
		<>
			<p class="hint">{t('air.sources.coverage.about')}</p>
			<ul class="coverage-legend" aria-label={t('air.legend')}>
				{levels.map((level) => (
					<li key={level}>
						<span class={`swatch coverage-${level}`} aria-hidden="true" />
						{nameOf(level)}
					</li>
				))}
			</ul>
			{/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
			<section class="scroll" tabIndex={0} aria-label={caption}>
				<table class="coverage-map">
					<caption class="unseen">{caption}</caption>
					<thead>
						<tr>
							<th scope="col">{t('air.sources.date')}</th>
							{dayHours.map((hour) => (
								<th key={hour} scope="col">
									{hour}
								</th>
							))}
						</tr>
					</thead>
					<tbody>
						{daysOf(hoursOf(props.of)).map(({ date, hours }) => (
							<tr key={date}>
								<th scope="row">{dayOfMonth(date)}</th>
								{dayHours.map((hour) => {
									const one = hours[hour];
									return one ? (
										<td key={hour} class={`coverage-${one.level}`} title={titleOf(one)}>
											{one.share === undefined ? '·' : Math.round(one.share * 100)}
										</td>
									) : (
										<td key={hour} />
									);
								})}
							</tr>
						))}
					</tbody>
				</table>
			</section>
		</>
	);
}

function nameOf(level: Level): string {
	switch (level) {
		case 'some':
			return t('air.sources.coverage.some', { limit: number(limits.full) });
		case 'low':
			return t('air.sources.coverage.low', { limit: number(limits.low) });
		default:
			return t(`air.sources.coverage.${level}`);
	}
}

function titleOf({ end, count, share }: Hour): string {
	const named = { hour: hourText(new Date(end - 3_600_000).toISOString()), count: number(count) };
	return share === undefined
		? t('air.sources.coverage.hour', named)
		: t('air.sources.coverage.share', { ...named, share: number(Math.round(share * 100)) });
}
