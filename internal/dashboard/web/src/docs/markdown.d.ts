declare module '*.md' {
	const page: import('../../pages').Page;
	export default page;
}
declare module 'openapi-explorer/dist/browser/openapi-explorer.min.js';
