import { defineConfig } from 'vitest/config';

// One service and one browser for all files, one file after the other: two cores are
// not enough for several pages and an engine at once.
export default defineConfig({
	root: import.meta.dirname,
	cacheDir: '../../../../node_modules/.vite',
	test: {
		include: ['**/*.test.ts'],
		globalSetup: ['./service.ts'],
		fileParallelism: false,
		// These end a test that hangs; a machine that is busy may take its time.
		testTimeout: 300_000,
		hookTimeout: 120_000,
		expect: { poll: { timeout: 60_000 } },
		reporters: ['verbose'],
	},
});
