// Runs the compiled samples in the current folder. A sample may name an object that a new account does not have.
import { readdir } from 'node:fs/promises';
import { ProblemError } from 'vayu-sdk';

console.log = () => {};
const files = (await readdir('.')).filter((name) => /^read-\d+\.js$/.test(name));
for (const file of files) {
	await import(`${process.cwd()}/${file}`).catch((error) => {
		if (!(error instanceof ProblemError && error.status === 404)) throw new Error(file, { cause: error });
	});
}
console.info(`typescript: ${files.length} samples`);
