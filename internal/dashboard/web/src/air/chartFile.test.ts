import { expect, test } from 'vitest';
import type { Drawn } from './Chart';
import { csvOf, type Picture, steps, svgOf } from './chartFile';

const midnight = Date.parse('2026-11-20T00:00:00+05:30') / 1000;
const day = 86_400;

const line = (name: string, ys: (number | null)[]): Drawn => ({
	...{ name, token: 'ink', dash: [], ys },
	xs: ys.map((_, i) => midnight + i * day),
});

const picture = (lines: readonly Drawn[]): Picture => ({
	...{ title: 'Delhi <now> & "then"', unit: 'AQI', lines, step: 'day', credit: 'CPCB', colour: (token) => `#${token}` },
	bands: [
		{ to: 50, name: 'Good', colour: '#0f0' },
		{ to: 500, name: 'Severe', colour: '#f00' },
	],
	ticks: (at) => at.map(() => '1 Nov'),
	figure: String,
});

test('the ticks of an axis are round', () => {
	expect(steps(349)).toEqual([0, 100, 200, 300]);
	expect(steps(52)).toEqual([0, 10, 20, 30, 40, 50]);
	expect(steps(1.3)).toEqual([0, 0.5, 1]);
	expect(steps(0.4)).toEqual([0, 0.1, 0.2, 0.3, 0.4]);
});

test('a picture has the title, the unit, the categories and the credit, as text', () => {
	const svg = svgOf(picture([line('Delhi', [100, 200])]));
	expect(svg).toContain('<title>Delhi &lt;now&gt; &amp; &quot;then&quot;</title>');
	for (const text of ['>AQI<', '>Good<', '>Severe<', '>CPCB<']) {
		expect(svg).toContain(text);
	}
	expect(svg).not.toMatch(/NaN|Infinity|undefined/);
});

test('a gap interrupts the line, and a figure alone is visible', () => {
	const svg = svgOf(picture([line('Delhi', [100, 120, null, 140, null, 150, 160])]));
	const path = / d="(M[^"H]+)" fill="none"/.exec(svg)?.[1] ?? '';
	expect(path.match(/M/g)).toHaveLength(3);
	expect(path.match(/h1/g)).toHaveLength(1);
});

test('several lines are named below the picture', () => {
	const svg = svgOf(picture([line('Delhi', [1, 2]), line('Pune', [2, 1])]));
	expect(svg).toContain('>Delhi<');
	expect(svg).toContain('>Pune<');
});

test('eight lines are named in two rows, and a long title fits the picture', () => {
	const lines = ['Delhi', 'Mumbai', 'Pune', 'Kolkata', 'Chennai', 'Hyderabad', 'Lucknow', 'Thiruvananthapuram'].map((name) =>
		line(name, [1, 2]),
	);
	const svg = svgOf({ ...picture(lines), title: 'x'.repeat(120) });
	const places = lines.map(({ name }) => new RegExp(`<text x="([\\d.]+)" y="([\\d.]+)">${name}<`).exec(svg)?.slice(1).map(Number) ?? []);
	expect(new Set(places.map(([, y]) => y)).size).toBe(2);
	expect(places.map(([x]) => x)).toEqual([0, 1, 2, 3, 0, 1, 2, 3].map((column) => 112 + 220 * column));
	expect(Number(/font-size="([\d.]+)" font-weight="bold"/.exec(svg)?.[1]) * 0.58 * 120).toBeLessThanOrEqual(881);
});

test('the names of the categories are at the right of the plot and inside the picture', () => {
	const svg = svgOf(picture([line('Delhi', [100, 200])]));
	const band = /<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)" height="[\d.]+" fill="#f00"/.exec(svg)?.slice(1).map(Number) ?? [];
	const end = (band[0] ?? 0) + (band[1] ?? 0);
	const ends = [...svg.matchAll(/L([\d.]+) [\d.]+"? /g)].map(([, x]) => Number(x));
	expect(ends).toEqual([end]);
	for (const name of ['Good', 'Severe']) {
		const x = Number(new RegExp(`<text x="([\\d.]+)"[^>]*>${name}<`).exec(svg)?.[1]);
		expect(x).toBeGreaterThan(end);
		expect(x + 7 * name.length).toBeLessThanOrEqual(960);
	}
});

test('a table has a row for each day with a figure, and empty cells for gaps', () => {
	expect(csvOf([line('Delhi', [100, null, 120]), line('Pune, Maharashtra', [50, null, null])], 'AQI', 'day')).toBe(
		'day,Delhi: AQI,"Pune, Maharashtra: AQI"\r\n2026-11-20,100,50\r\n2026-11-22,120,\r\n',
	);
	expect(csvOf([line('PM2.5', [1.5])], 'PM2.5', 'hour')).toBe('hour_ending,PM2.5\r\n2026-11-19T18:30:00Z,1.5\r\n');
});
