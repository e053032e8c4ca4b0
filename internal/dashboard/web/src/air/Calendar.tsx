import type { JSX } from 'preact';
import { useLayoutEffect, useMemo, useState } from 'preact/hooks';
import { locale, t } from '../i18n';
import { bandOf, toneOf } from './category';
import { halves, months, step, weeks } from './days';
import type { Entry } from './series';
import { useWidth } from './width';
import './calendar.css';

/**
 * weekWidth and weekdayWidth are the least widths of a column with the space beside it, in pixels. A day is a target of at
 * least 24 pixels. A calendar that scrolls has narrowWeekday instead, and so an additional week on a phone.
 */
const weekWidth = 28;
const weekdayWidth = 48;
const narrowWeekday = 42;

/** columnsOf divides a width into whole weeks, as a calendar that scrolls shows them. The column of weekdays takes the rest. */
function columnsOf(width: number): { week: number; weekday: number } {
	const count = Math.max(1, Math.floor((width - narrowWeekday) / weekWidth));
	const week = Math.max(weekWidth, Math.floor((width - narrowWeekday) / count));
	return { week, weekday: Math.max(narrowWeekday, width - count * week) };
}

/** hideCut hides the names of months that an edge of the frame or the column of weekdays cuts. */
function hideCut(frame: HTMLElement): void {
	const { left, right } = frame.getBoundingClientRect();
	const first = left + (frame.querySelector('.corner')?.getBoundingClientRect().width ?? 0);
	for (const name of frame.querySelectorAll<HTMLElement>('[scope="colgroup"] span:not(.unseen)')) {
		const box = name.getBoundingClientRect();
		name.classList.toggle('cut-month', box.left < first + 1 || box.right > right + 1);
	}
}

/**
 * Calendar shows a year of days, one column a week, in two halves if one is too wide. In a narrower card it scrolls by whole
 * weeks and begins with the newest. Arrow keys move between days, and Enter opens one.
 */
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
	const inside = chosen && chosen >= from && chosen <= to ? chosen : undefined;
	const [marked, setMarked] = useState(inside ?? to);
	const { frame, width } = useWidth();
	const fits = (count: number) => count * weekWidth + weekdayWidth <= width;
	const half = Math.ceil(columns.length / 2);
	const parts = fits(half) && !fits(columns.length) ? halves(columns, Math.floor((width - weekdayWidth) / weekWidth)) : [columns];
	const scrolls = !fits(half);
	const { week, weekday } = columnsOf(width);
	// Without a chosen day, the newest day with figures is in sight.
	const sought = inside ?? props.entries.at(-1)?.date;
	useLayoutEffect(() => {
		const day = frame.current?.querySelector(`[data-date="${sought}"]`)?.getBoundingClientRect();
		const around = frame.current?.getBoundingClientRect();
		if (day && around && (day.left < around.left + weekday - 3 || day.right > around.right)) {
			frame.current?.scrollBy({ left: day.left - around.left - around.width / 2, behavior: 'instant' });
		}
	}, [sought, width, weekday, columns]);
	useLayoutEffect(() => {
		if (frame.current) {
			hideCut(frame.current);
		}
	});
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
			frame.current?.querySelector<HTMLElement>(`[data-date="${next}"]`)?.focus();
		}
	};
	const name = (date: string, options: Intl.DateTimeFormatOptions) =>
		new Intl.DateTimeFormat(locale.value, { ...options, timeZone: 'UTC' }).format(new Date(date));
	return (
		<>
			<div
				class={`scroll newest ${scrolls ? 'by-week' : ''}`}
				style={scrolls ? { '--week': `${week - 2}px`, '--weekday': `${weekday - 2}px` } : undefined}
				ref={frame}
				onScroll={({ currentTarget }) => hideCut(currentTarget)}
			>
				{/* biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a table whose cells are gone through by arrow keys is a grid */}
				<table class="calendar" role="grid" aria-label={t('air.calendar')} onKeyDown={pressed}>
					{parts.map((part, index) => (
						<tbody key={index}>
							<tr>
								<td class="corner" />
								{months(part).map((month) => (
									<th key={month.date} scope="colgroup" colSpan={month.weeks}>
										{month.weeks > 1 ? (
											<span>{name(month.date, { month: 'short' })}</span>
										) : (
											<span class="unseen">{name(month.date, { month: 'short' })}</span>
										)}
									</th>
								))}
							</tr>
							{Array.from({ length: 7 }, (_, row) => (
								<tr key={row}>
									<th scope="row">{name(`2024-01-0${row + 1}`, { weekday: 'short' })}</th>
									{part.map((week) => {
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
					))}
				</table>
			</div>
			<p class="hint">
				{scrolls && t('air.calendar.scroll')} {t('air.calendar.hint')} <span class="with-mouse">{t('air.calendar.keys')}</span>
			</p>
		</>
	);
}
