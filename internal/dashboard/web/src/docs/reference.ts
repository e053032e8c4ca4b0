import { init } from 'redoc/bundles/redoc.standalone.js';

// The examples name the address of a service on this computer. A reader of this page needs the address it came from.
const address = 'http://127.0.0.1:8080';
const contract = await (await fetch('/openapi.json')).text();

init(
	JSON.parse(contract.replaceAll(address, location.origin)) as Record<string, unknown>,
	{ router: 'hash', disableTelemetry: true, showExtensions: ['x-scope'] },
	document.getElementById('reference'),
);
