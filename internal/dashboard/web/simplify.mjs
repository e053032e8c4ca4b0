// Writes states.txt, the outlines that the map draws, from the outlines of package gazetteer:
//
//	npm run dashboard:outlines
//
// mapshaper simplifies the borders that two states share once, so that no gaps open between them. It is fetched for the
// run and is no dependency of the project.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const source = join(import.meta.dirname, '../../../schema/gazetteer/states.txt');
const target = join(import.meta.dirname, 'states.txt');

// Areas are in square degrees. Holes below the first are artefacts of the borders of constituencies, or enclaves too small
// to see. Islands below the second are smaller than a fifth of a pixel.
const largestHole = 0.01;
const smallestIsland = 0.00005;

/** read returns the rings of each state, in degrees. */
function read() {
	const states = new Map();
	for (const line of readFileSync(source, 'utf8').split('\n')) {
		const [name, vertices] = line.split('\t');
		if (!vertices || line.startsWith('#')) {
			continue;
		}
		let [x, y] = [0, 0];
		const ring = vertices.split(' ').map((vertex) => {
			const [dx, dy] = vertex.split(',').map(Number);
			[x, y] = [x + dx, y + dy];
			return [x / 1000, y / 1000];
		});
		states.set(name, [...(states.get(name) ?? []), [...ring, ring[0]]]);
	}
	return states;
}

function areaOf(ring) {
	return ring.slice(1).reduce((sum, [x, y], i) => sum + ring[i][0] * y - x * ring[i][1], 0) / 2;
}

/** contains reports whether a point is in a ring. It counts the edges to the right of the point. */
function contains(ring, [x, y]) {
	return ring.slice(1).reduce((inside, [bx, by], i) => {
		const [ax, ay] = ring[i];
		return ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax ? !inside : inside;
	}, false);
}

/** landOf drops the holes of a state, and islands that are too small to see. */
function landOf(rings) {
	return rings.filter((ring) => {
		const area = Math.abs(areaOf(ring));
		const hole = rings.some(
			(other) =>
				Math.abs(areaOf(other)) > area &&
				ring.slice(1).every((at) => contains(other, at) || other.some(([x, y]) => x === at[0] && y === at[1])),
		);
		if (hole && area > largestHole) {
			throw new Error(`a state has a hole at ${ring[0]}`);
		}
		return !hole && area > smallestIsland;
	});
}

/** sharpest is the least angle of a border at a vertex, in degrees. A sharper one is the tip of a spur of the source. */
const sharpest = 40;

/** angleAt returns the angle of a ring at b, between its neighbours a and c, in degrees. */
function angleAt(a, b, c) {
	const between = Math.abs(Math.atan2(a[1] - b[1], a[0] - b[0]) - Math.atan2(c[1] - b[1], c[0] - b[0]));
	return (Math.min(between, 2 * Math.PI - between) * 180) / Math.PI;
}

/**
 * withoutSpurs removes the tips of spurs from a ring until none is left. It removes all tips at once, in any direction, so two
 * states remove the same ones of their border.
 */
function withoutSpurs(ring) {
	let kept = ring.slice(0, -1);
	for (;;) {
		const blunt = kept.filter((at, i) => angleAt(kept.at(i - 1), at, kept[(i + 1) % kept.length]) >= sharpest);
		if (blunt.length === kept.length || blunt.length < 3) {
			return [...kept, kept[0]];
		}
		kept = blunt;
	}
}

const work = mkdtempSync(join(tmpdir(), 'outlines-'));
try {
	// Each polygon is a feature, because the option keep-shapes keeps only the largest one of a feature.
	const features = [...read()].flatMap(([name, rings]) =>
		landOf(rings).map((ring) => ({ type: 'Feature', properties: { name }, geometry: { type: 'Polygon', coordinates: [ring] } })),
	);
	writeFileSync(join(work, 'states.json'), JSON.stringify({ type: 'FeatureCollection', features }));
	const [input, output] = [join(work, 'states.json'), join(work, 'simple.json')];
	execFileSync(
		'npx',
		['--yes', 'mapshaper@0.7.70', '-i', input, '-simplify', 'dp', 'interval=2km', 'keep-shapes', '-o', output, 'precision=0.001'],
		{
			stdio: 'inherit',
		},
	);
	const lines = JSON.parse(readFileSync(output, 'utf8')).features.flatMap(({ properties, geometry }) => {
		const all = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates;
		const rings = all.flat().map(withoutSpurs);
		return rings.map((ring) => {
			let last = [0, 0];
			// The last position of a ring is its first one.
			const vertices = ring.slice(0, -1).map((at) => {
				const now = at.map((degrees) => Math.round(degrees * 1000));
				const text = now.map((value, i) => value - last[i]).join(',');
				last = now;
				return text;
			});
			return `${properties.name}\t${vertices.join(' ')}`;
		});
	});
	writeFileSync(
		target,
		`# Outlines of India's states and union territories for the map, simplified by 2 km and without spurs, from those of
# schema/gazetteer/states.txt, which names their sources and licences: npm run dashboard:outlines. The format is the same.
${lines.join('\n')}
`,
	);
} finally {
	rmSync(work, { recursive: true });
}
