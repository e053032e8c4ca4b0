import { defineConfig, mergeConfig } from 'vitest/config';
import tests from './vitest.config';

// `make bench-page` measures the dashboard. The figures are printed and never checked, because machines are noisy.
export default mergeConfig(tests, defineConfig({ test: { include: ['**/*.measure.ts'], testTimeout: 4_000_000, reporters: ['default'] } }));
