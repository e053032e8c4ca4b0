import type { JSX } from 'preact';
import { number } from '../format';
import { t } from '../i18n';
import { saveFile } from '../ui/saveFile';
import type { Drawn } from './Chart';
import { bands, type Figure, highest } from './category';
import { SaveButtons } from './SaveButtons';
import type { Step } from './series';
import { times } from './stamp';

/** lightColour returns a design token in the light scheme, which suits paper and messages. */
function lightColour(token: string): string {
	const value = getComputedStyle(document.documentElement).getPropertyValue(`--${token}`).trim();
	return /^light-dark\(\s*([^,]+),/.exec(value)?.[1] ?? value;
}

const types = { png: 'image/png', svg: 'image/svg+xml', csv: 'text/csv' } as const;

/** SaveChart saves a chart as a picture or as a table. */
export function SaveChart(props: {
	lines: readonly Drawn[];
	figure: Figure;
	unit: string;
	step: Step;
	/** title names the places, the figure and the period. */
	title: string;
	/** name is the name of the figure. */
	name: string;
	credit: () => string;
	/** banded puts the categories behind the lines. By default only a single line has them. */
	banded?: boolean;
}): JSX.Element {
	const { lines, figure, unit, step } = props;
	const save = async (type: keyof typeof types) => {
		const { csvOf, pngOf, svgOf } = await import('./chartFile');
		const svg = () =>
			svgOf({
				...{ title: props.title, unit, lines, step, figure: number, credit: props.credit(), colour: lightColour },
				bands: !(props.banded ?? lines.length === 1)
					? []
					: bands.map((band, i) => ({
							to: highest[figure][i] ?? Number.POSITIVE_INFINITY,
							name: t(band.name),
							colour: lightColour(`aqi-${band.token}`),
						})),
				ticks: (at) => times(at, step),
			});
		const content = type === 'csv' ? csvOf(lines, props.name, step) : type === 'svg' ? svg() : await pngOf(svg());
		const file = props.title.replace(/[^\p{L}\p{M}\p{N}.]+/gu, '-').slice(0, 80);
		saveFile(content instanceof Blob ? content : new Blob([content], { type: types[type] }), `${file}.${type}`);
	};
	return <SaveButtons types={['png', 'svg', 'csv']} save={save} />;
}
