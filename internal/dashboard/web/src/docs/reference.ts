import { init } from 'redoc/bundles/redoc.standalone.js';

init('/openapi.json', { router: 'hash', disableTelemetry: true, showExtensions: ['x-scope'] }, document.getElementById('reference'));
