import type { Route } from '../routes';

/** routes are the pages of the air quality section. */
export const routes: readonly Route[] = [
	{ path: '/', load: async () => (await import('./Cities')).Cities },
	{ path: '/air/:city', load: async () => (await import('./City')).City },
	{ path: '/pin/:pincode', load: async () => (await import('./City')).Pin },
	{ path: '/station/:station', load: async () => (await import('./City')).Station },
	{ path: '/rankings', load: async () => (await import('./Rankings')).Rankings },
	{ path: '/sources/:source', load: async () => (await import('./Source')).Source },
	{ path: '/sources', load: async () => (await import('./Sources')).Sources },
	{ path: '/forecast', load: async () => (await import('./Forecast')).Forecasts },
	{ path: '/forecast/:city', load: async () => (await import('./Forecast')).CityForecast },
	{ path: '/compare', load: async () => (await import('./Compare')).Compare },
];
