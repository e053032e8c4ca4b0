import type { ComponentChildren, JSX } from 'preact';
import { number } from '../format';
import { t } from '../i18n';
import { hasScope } from '../session';
import { LacksScope } from '../ui/Missing';
import { bandOf, bands, type Figure, highest, type IndianBand, notReporting, pollutants, toneOf } from './category';
import { bandIn, bandsOf, type Scale } from './scale';
import './air.css';

/** Index shows an index with the name and the colour of its category. A stale index has no colour. */
export function Index(props: {
	aqi: number | null;
	category: string | null;
	scale?: Scale | undefined;
	large?: boolean;
	stale?: boolean;
}): JSX.Element {
	const band = bandIn(props.scale, props.category);
	return (
		<span class={`index ${props.stale ? 'stale' : toneOf(band)} ${props.large ? 'large' : ''}`}>
			<b>{props.aqi ?? '–'}</b> <span>{band ? t(band.name) : t('air.noindex')}</span>
		</span>
	);
}

/** rangeOf writes the range of a category. Concentrations have no upper limit. */
function rangeOf(band: IndianBand, figure: Figure): string {
	if (figure === 'aqi') {
		return `${band.from}–${band.to}`;
	}
	const i = bands.indexOf(band);
	const [from = 0, to] = [highest[figure][i - 1], highest[figure][i]];
	return to === undefined ? `> ${number(from)}` : `${number(from)}–${number(to)}`;
}

/** titleOf names the figure of a legend with its unit. */
export function titleOf(figure: Figure): string {
	const found = pollutants.find(({ id }) => id === figure);
	return found ? `${found.name} (${found.unit})` : t('air.index');
}

/** Legend shows the colour and the range of each category. With counts, each entry is a filter. */
export function Legend(props: {
	counts?: ReadonlyMap<string, number>;
	chosen?: string | undefined;
	choose?: (word: string | undefined) => void;
	/** figure is the figure whose ranges are shown; by default the index. */
	figure?: Figure;
	/** scale is the scale of the categories; by default India's. */
	scale?: Scale;
	/** title names the figure whose ranges are shown. */
	title?: string | undefined;
	/** empty adds the colour of places and times without a figure. */
	empty?: boolean;
}): JSX.Element {
	const { counts, chosen, choose, scale = 'in' } = props;
	return (
		<ul class="legend" aria-label={props.title ?? t('air.legend')}>
			{props.title && (
				<li aria-hidden="true">
					<b>{props.title}</b>
				</li>
			)}
			{bandsOf(scale).map((band) => {
				const indian = scale === 'in' ? bandOf(band.word) : undefined;
				const inside = (
					<>
						<span class={`swatch ${toneOf(band)}`} aria-hidden="true" />
						<span>{t(band.name)}</span> <span class="range">{indian ? rangeOf(indian, props.figure ?? 'aqi') : band.range}</span>{' '}
						{counts && <b>{counts.get(band.word) ?? 0}</b>}
					</>
				);
				return (
					<li key={band.word}>
						{choose ? (
							<button
								type="button"
								aria-pressed={chosen === band.word}
								onClick={() => choose(chosen === band.word ? undefined : band.word)}
							>
								{inside}
							</button>
						) : (
							inside
						)}
					</li>
				);
			})}
			{choose && counts?.has(notReporting) && (
				<li>
					<button
						type="button"
						aria-pressed={chosen === notReporting}
						onClick={() => choose(chosen === notReporting ? undefined : notReporting)}
					>
						<span class="swatch stale" aria-hidden="true" />
						<span>{t('air.stale')}</span> <b>{counts.get(notReporting)}</b>
					</button>
				</li>
			)}
			{props.empty && (
				<li>
					<span class="swatch aqi-none" aria-hidden="true" />
					<span>{t('air.legend.empty')}</span>
				</li>
			)}
		</ul>
	);
}

/** RequireScope renders its children if the key may read the air, and otherwise a message that names the scope. */
export function RequireScope(props: { children: ComponentChildren }): JSX.Element {
	if (!hasScope('aqi:read')) {
		return <LacksScope scope="aqi:read" />;
	}
	return <>{props.children}</>;
}
