// Writes the samples that the reference at /docs shows for one language, each as a file of FOLDER:
//
//   node samples.mjs MODULE CONTRACT LANGUAGE FOLDER
//
// MODULE is the compiled internal/dashboard/web/src/docs/samples.ts, and CONTRACT the contract as JSON. The names of reads
// from the API begin with "read-". A program of each language runs them.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const [module, contract, language, folder] = process.argv.slice(2);
const { samplesOf } = await import(module);
const suffix = { typescript: 'ts', python: 'py', go: 'go' }[language];
const { paths } = JSON.parse(await readFile(contract, 'utf8'));
let count = 0;
for (const [route, methods] of Object.entries(paths)) {
	for (const [method, operation] of Object.entries(methods)) {
		for (const { lang, source } of samplesOf(route, operation)) {
			if (lang !== language) continue;
			// The programs run with a sandbox key.
			const live = /\bneeds a live key\b/.test(operation.description ?? '');
			const reads = method === 'get' && route.startsWith('/v1/') && route !== '/v1/live' && !live;
			const name = `${reads ? 'read' : 'call'}-${++count}`;
			const file = language === 'go' ? join(folder, name, 'main.go') : join(folder, `${name}.${suffix}`);
			await mkdir(join(file, '..'), { recursive: true });
			// The files are modules, so a name in one of them is none in the others.
			await writeFile(file, language === 'typescript' ? `${source}export {};\n` : source);
		}
	}
}
if (count < 90) throw new Error(`only ${count} samples in ${language}`);
