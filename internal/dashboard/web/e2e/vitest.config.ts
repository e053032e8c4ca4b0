import { defineConfig } from 'vitest/config';

// One service and one browser serve all files, which run one after the other. Two cores cannot run several pages
// and the service at once.
export default defineConfig({
	root: import.meta.dirname,
	cacheDir: '../../../../node_modules/.vite',
	test: {
		include: ['**/*.test.ts'],
		globalSetup: ['./service.ts'],
		setupFiles: ['./hooks.ts'],
		fileParallelism: false,
		// The files share a process. Loading Playwright, axe and Chromium for each file took a sixth of the processor time.
		isolate: false,
		pool: 'forks',
		// These timeouts end a test that hangs. They are long because a busy machine is slow.
		testTimeout: 600_000,
		hookTimeout: 300_000,
		expect: { poll: { timeout: 120_000 } },
		reporters: ['verbose'],
	},
});
