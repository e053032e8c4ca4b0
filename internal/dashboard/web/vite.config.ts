import { defineConfig } from 'vite';

// The page lives below /dashboard/ and goes into the binary from ../dist. Nothing is
// inlined as data: the page's policy lets in only what the service itself sends.
export default defineConfig({
	base: '/dashboard/',
	esbuild: { jsx: 'automatic', jsxImportSource: 'preact' },
	build: {
		outDir: '../dist',
		emptyOutDir: true,
		assetsInlineLimit: 0,
		modulePreload: { polyfill: false },
		target: 'es2022',
	},
	// `npx vite internal/dashboard/web` serves the sources against a running service.
	server: { proxy: { '/v1': 'http://127.0.0.1:8080', '/dashboard/v1': 'http://127.0.0.1:8080' } },
	test: { include: ['src/**/*.test.ts'], environment: 'node' },
} as import('vite').UserConfig);
