import { defineConfig } from 'vitest/config';

// A limit of time only ends a test that hangs.
export default defineConfig({ cacheDir: '../../../node_modules/.vite', test: { testTimeout: 60_000 } });
