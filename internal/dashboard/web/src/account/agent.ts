import { t } from '../i18n';

// The first match counts, because a browser also names the browsers that it imitates.
const browsers: readonly [RegExp, string][] = [
	[/\bEdg(e|A|iOS)?\//, 'Edge'],
	[/\b(OPR|Opera)\b/, 'Opera'],
	[/\bSamsungBrowser\//, 'Samsung Internet'],
	[/\b(Firefox|FxiOS)\//, 'Firefox'],
	[/\b(HeadlessChrome|Chrome|CriOS)\//, 'Chrome'],
	[/\bVersion\/.*\bSafari\//, 'Safari'],
];

const systems: readonly [RegExp, string][] = [
	[/\bAndroid\b/, 'Android'],
	[/\b(iPhone|iPod)\b/, 'iPhone'],
	[/\biPad\b/, 'iPad'],
	[/\bWindows\b/, 'Windows'],
	[/\bCrOS\b/, 'ChromeOS'],
	[/\bMac(intosh| OS X)\b/, 'macOS'],
	[/\b(Linux|X11)\b/, 'Linux'],
];

/** most is the number of characters that are shown of an unknown User-Agent header. */
const most = 60;

/** browserName names the browser and the system of a User-Agent header, such as Chrome on Android. */
export function browserName(agent: string): string {
	const [, browser] = browsers.find(([pattern]) => pattern.test(agent)) ?? [];
	const [, system] = systems.find(([pattern]) => pattern.test(agent)) ?? [];
	if (browser && system) {
		return t('account.session.agent', { browser, system });
	}
	return agent.length > most ? `${agent.slice(0, most)}…` : agent;
}
