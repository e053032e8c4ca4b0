import { init } from 'redoc/bundles/redoc.standalone.js';

// The examples name the address of a service on this computer. A reader of this page needs the address it came from.
const address = 'http://127.0.0.1:8080';
const root = document.getElementById('reference') as HTMLElement;

// Long examples scroll. Redoc does not let the keyboard reach them.
new MutationObserver(() => {
	for (const example of root.querySelectorAll('pre:not([tabindex])')) {
		example.setAttribute('tabindex', '0');
	}
}).observe(root, { childList: true, subtree: true });

const contract = await (await fetch('/openapi.json')).text();

init(
	JSON.parse(contract.replaceAll(address, location.origin)) as Record<string, unknown>,
	{ router: 'hash', disableTelemetry: true, showExtensions: ['x-scope'] },
	root,
);
