import { defineConfig } from 'vite';
import { eventTypes } from './eventTypes';
import { cityNames } from './otherNames';
import { indiaOutlines } from './outlines';
import { markdownPages } from './pages';

const service = process.env.VAYU ?? 'http://127.0.0.1:8080';

// The page is served below /dashboard/ and embedded into the binary from ../dist. Nothing is inlined as a data
// URL, because the content security policy allows only what the service sends. docs.html is the page /docs.
export default defineConfig({
	base: '/dashboard/',
	cacheDir: '../../../node_modules/.vite',
	plugins: [indiaOutlines(), cityNames(), markdownPages(), eventTypes()],
	esbuild: { jsx: 'automatic', jsxImportSource: 'preact' },
	build: {
		outDir: '../dist',
		emptyOutDir: true,
		assetsInlineLimit: 0,
		modulePreload: { polyfill: false },
		target: 'es2022',
		rollupOptions: { input: [`${import.meta.dirname}/index.html`, `${import.meta.dirname}/docs.html`] },
	},
	// `npx vite internal/dashboard/web` serves the sources and forwards API calls to a running service.
	server: { proxy: { '/v1': service, '/dashboard/v1': service } },
	test: {
		testTimeout: 120_000,
		hookTimeout: 120_000,
		expect: { poll: { timeout: 60_000 } },
		projects: [
			{ extends: true, test: { name: 'functions', include: ['src/**/*.test.ts'] } },
			{
				extends: true,
				test: { name: 'components', include: ['src/**/*.test.tsx'], environment: 'happy-dom', setupFiles: ['src/testing/setup.ts'] },
			},
		],
	},
} as import('vite').UserConfig);
