import { afterEach } from 'vitest';
import { closeWindows } from './browser';
import { closeReceivers } from './receiver';

// Vitest runs this module before each test file. It evaluates the other modules once for all files, which share a process.
afterEach(async ({ task }) => {
	await closeWindows(task.name, task.result?.state === 'fail');
	await closeReceivers();
});
