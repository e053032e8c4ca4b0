import type { Drawn } from './Chart';
import type { Step } from './series';

/** Picture is what a saved chart shows. Its texts are in the language of the page. */
export interface Picture {
	title: string;
	unit: string;
	lines: readonly Drawn[];
	/** bands are the categories behind the lines: upper limit, name and colour, the lowest first. */
	bands: readonly { to: number; name: string; colour: string }[];
	step: Step;
	/** ticks writes the times of the axis, which are given in seconds. */
	ticks: (at: readonly number[]) => string[];
	figure: (value: number) => string;
	/** credit names who measured the figures. */
	credit: string;
	/** colour resolves a design token to a colour of the light scheme. */
	colour: (token: string) => string;
}

const width = 960;
const height = 480;
const box = { left: 64, top: 56, bottom: height - 84 };

/** margin is the space at the right of a picture without categories. */
const margin = 16;

/** letter is the width of a letter of the names of categories, which have the size 12. */
const letter = 7;

/** The legend has up to four lines beside each other. Each further row makes the picture higher. */
const inRow = 4;
const row = 20;

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
const rounded = (value: number) => Math.round(value * 10) / 10;

/** steps returns round values from 0 to a maximum, about five. */
export function steps(most: number): number[] {
	const power = 10 ** Math.floor(Math.log10(most / 5));
	const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => most / size <= 6) ?? most;
	return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, i) => Number((i * step).toPrecision(12)));
}

/** paths returns the parts of a line between its gaps. A single point is drawn as a short stroke. */
function paths(line: Drawn, x: (at: number) => number, y: (value: number) => number): string {
	let path = '';
	let pen = false;
	for (const [i, at] of line.xs.entries()) {
		const value = line.ys[i];
		if (value === null || value === undefined) {
			pen = false;
			continue;
		}
		const alone = !pen && (line.ys[i + 1] ?? null) === null;
		path += `${pen ? 'L' : 'M'}${rounded(x(at))} ${rounded(y(value))}${alone ? 'h1' : ''}`;
		pen = true;
	}
	return path;
}

/** svgOf returns a chart as an SVG document, in the colours of the light scheme. */
export function svgOf(of: Picture): string {
	const values = of.lines.flatMap(({ ys }) => ys.filter((value) => value !== null));
	const most = Math.max(1e-6, ...values) * 1.05;
	const times = of.lines.flatMap(({ xs }) => xs);
	const limits = of.bands.map(({ to }) => to);
	const shown = of.bands.map((band, i) => ({ ...band, from: limits[i - 1] ?? 0 })).filter(({ from }) => from < most);
	// The names of the categories are at the right of the plot, where no line covers them.
	const right = width - margin - letter * Math.max(0, ...shown.map(({ name }) => name.length));
	const [first, last] = [Math.min(...times), Math.max(...times)];
	const x = (at: number) => box.left + ((at - first) / Math.max(1, last - first)) * (right - box.left);
	const y = (value: number) => box.bottom - (Math.min(value, most) / most) * (box.bottom - box.top);
	const text = (at: [number, number], content: string, more = '') =>
		`<text x="${rounded(at[0])}" y="${rounded(at[1])}"${more}>${escaped(content)}</text>`;
	const parts: string[] = [];
	const beside = Math.min(inRow, of.lines.length);
	const whole = height + row * Math.max(0, Math.ceil(of.lines.length / inRow) - 1);
	for (const { from, to, name, colour } of shown) {
		const [base, top] = [y(from), y(Math.min(to, most))];
		parts.push(
			`<rect x="${box.left}" y="${rounded(top)}" width="${right - box.left}" height="${rounded(base - top)}" fill="${colour}" opacity="0.25"/>`,
		);
		if (base - top >= 14) {
			parts.push(text([right + 8, (base + top) / 2 + 4], name, ' font-size="12"'));
		}
	}
	for (const value of steps(most)) {
		const at = rounded(y(value));
		parts.push(
			`<path d="M${box.left} ${at}H${right}" stroke="${of.colour('line')}"/>`,
			text([box.left - 8, at + 4], of.figure(value), ' text-anchor="end"'),
		);
	}
	const marks = Array.from({ length: 6 }, (_, i) => first + ((last - first) * i) / 5);
	for (const [i, written] of of.ticks(marks).entries()) {
		const anchor = i === 0 ? 'start' : i === 5 ? 'end' : 'middle';
		const [above = '', below = ''] = written.split('\n');
		const at = x(marks[i] ?? first);
		parts.push(
			text([at, box.bottom + 20], above, ` text-anchor="${anchor}"`),
			text([at, box.bottom + 36], below, ` text-anchor="${anchor}"`),
		);
	}
	for (const [i, line] of of.lines.entries()) {
		const dash = line.dash.length > 0 ? ` stroke-dasharray="${line.dash.join(' ')}"` : '';
		const colour = of.colour(line.token);
		parts.push(`<path d="${paths(line, x, y)}" fill="none" stroke="${colour}" stroke-width="2"${dash}/>`);
		if (of.lines.length > 1) {
			const at = box.left + ((i % beside) * (width - margin - box.left)) / beside;
			const base = height - 28 + row * Math.floor(i / beside);
			parts.push(`<path d="M${rounded(at)} ${base - 4}h40" stroke="${colour}" stroke-width="2"${dash}/>`, text([at + 48, base], line.name));
		}
	}
	// A bold letter is about 0.58 of its size wide.
	const size = rounded(Math.min(18, (width - margin - box.left) / (0.58 * of.title.length)));
	return (
		`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${whole}" viewBox="0 0 ${width} ${whole}" ` +
		`font-family="system-ui, 'Noto Sans', 'Noto Sans Devanagari', sans-serif" font-size="13" fill="${of.colour('ink')}">` +
		`<title>${escaped(of.title)}</title><rect width="${width}" height="${whole}" fill="#ffffff"/>` +
		text([box.left, 28], of.title, ` font-size="${size}" font-weight="bold"`) +
		text([box.left, box.top - 8], of.unit) +
		parts.join('') +
		text([box.left, whole - 10], of.credit, ' font-size="11"') +
		'</svg>'
	);
}

/** pngOf draws an SVG document with twice its resolution. */
export async function pngOf(svg: string): Promise<Blob> {
	const image = new Image();
	image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
	await image.decode();
	const canvas = document.createElement('canvas');
	canvas.width = 2 * image.naturalWidth;
	canvas.height = 2 * image.naturalHeight;
	canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
	return new Promise((done, failed) =>
		canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error('The picture is empty'))), 'image/png'),
	);
}

const quoted = (text: string) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/**
 * csvOf returns the figures of lines as a table: a row for each time, in UTC, or for each day in India. Gaps are
 * empty.
 */
export function csvOf(lines: readonly Drawn[], figure: string, step: Step): string {
	const values = lines.map(({ xs, ys }) => new Map(xs.map((at, i) => [at, ys[i] ?? null] as const)));
	const times = [...new Set(lines.flatMap(({ xs }) => xs))]
		.filter((at) => values.some((of) => (of.get(at) ?? null) !== null))
		.sort((a, b) => a - b);
	// A day is drawn at its midnight in India.
	const written = (at: number) =>
		step === 'day' ? new Date((at + 19_800) * 1000).toISOString().slice(0, 10) : new Date(at * 1000).toISOString().replace('.000Z', 'Z');
	const head = [step === 'day' ? 'day' : 'hour_ending', ...lines.map(({ name }) => (name === figure ? name : `${name}: ${figure}`))];
	return [head, ...times.map((at) => [written(at), ...values.map((of) => String(of.get(at) ?? ''))])]
		.map((row) => `${row.map(quoted).join(',')}\r\n`)
		.join('');
}
