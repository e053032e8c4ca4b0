import type { JSX } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import { locale, t } from '../i18n';
import { bandOf, toneOf } from './category';
import { months, step, weeks } from './days';
import type { Entry } from './series';
import './calendar.css';

/** Calendar shows a year of days, one column a week. Arrow keys move between days, and Enter opens one. */
export function Calendar(props: {
	from: string;
	to: string;
	entries: readonly Entry[];
	chosen: string | undefined;
	onChoose: (date: string) => void;
}): JSX.Element {
	const { from, to, chosen } = props;
	const columns = useMemo(() => weeks(from, to), [from, to]);
	const byDate = useMemo(() => new Map(props.entries.map((entry) => [entry.date, entry])), [props.entries]);
	const [marked, setMarked] = useState(chosen && chosen >= from && chosen <= to ? chosen : to);
	const grid = useRef<HTMLTableElement>(null);
	const language = locale.value;
	// All labels share one formatter, because creating one is slower than using it.
	const labels = useMemo(() => {
		const format = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' });
		return new Map(
			columns.flat().flatMap((date) => {
				if (!date) {
					return [];
				}
				const entry = byDate.get(date);
				const band = bandOf(entry?.category);
				return [
					[date, `${format.format(new Date(date))}: ${entry && band ? `${entry.aqi}, ${t(band.name)}` : t('air.nofigure')}`] as const,
				];
			}),
		);
	}, [columns, byDate, language]);
	const pressed = (event: KeyboardEvent) => {
		const next = step(event.key, marked, from, to);
		if (next) {
			event.preventDefault();
			setMarked(next);
			grid.current?.querySelector<HTMLElement>(`[data-date="${next}"]`)?.focus();
		}
	};
	const name = (date: string, options: Intl.DateTimeFormatOptions) =>
		new Intl.DateTimeFormat(locale.value, { ...options, timeZone: 'UTC' }).format(new Date(date));
	return (
		<>
			<div class="scroll newest">
				{/* biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a table whose cells are gone through by arrow keys is a grid */}
				<table class="calendar" role="grid" aria-label={t('air.calendar')} ref={grid} onKeyDown={pressed}>
					<thead>
						<tr>
							<td />
							{months(columns).map((month) => (
								<th key={month.date} scope="colgroup" colSpan={month.weeks}>
									{month.weeks > 1 ? (
										name(month.date, { month: 'short' })
									) : (
										<span class="unseen">{name(month.date, { month: 'short' })}</span>
									)}
								</th>
							))}
						</tr>
					</thead>
					<tbody>
						{Array.from({ length: 7 }, (_, row) => (
							<tr key={row}>
								<th scope="row">{name(`2024-01-0${row + 1}`, { weekday: 'short' })}</th>
								{columns.map((week) => {
									const date = week[row];
									const entry = date ? byDate.get(date) : undefined;
									return date ? (
										<td key={date}>
											<button
												type="button"
												class={toneOf(bandOf(entry?.category))}
												data-date={date}
												aria-current={date === chosen ? 'date' : undefined}
												tabIndex={date === marked ? 0 : -1}
												aria-label={labels.get(date)}
												title={labels.get(date)}
												onFocus={() => setMarked(date)}
												onClick={() => props.onChoose(date)}
											>
												{entry?.aqi ?? ''}
											</button>
										</td>
									) : (
										<td key={`${week.find(Boolean)}-${row}`} />
									);
								})}
							</tr>
						))}
					</tbody>
				</table>
			</div>
			<p class="hint">
				{t('air.calendar.hint')} <span class="with-mouse">{t('air.calendar.keys')}</span>
			</p>
		</>
	);
}
