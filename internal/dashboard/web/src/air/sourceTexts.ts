import { type Key, t } from '../i18n';
import { en } from '../i18n/en';

/** worded returns the text of a word of the API: its own, or for an unknown one the word itself. */
function worded(prefix: string, word: string): string {
	const key = `${prefix}.${word}`;
	return key in en ? t(key as Key) : word.replaceAll('_', ' ');
}

/** sourceName returns the name of a source for readers. An operator chooses the names of other sources. */
export function sourceName(source: string): string {
	const key = `air.sources.name.${source}`;
	return known[source] ?? (key in en ? t(key as Key) : source);
}

/** known has the names of networks, which are the same in each language. */
const known: Readonly<Record<string, string>> = {
	airgradient: 'AirGradient',
	'airgradient-local': 'AirGradient (local)',
	'airgradient-mqtt': 'AirGradient (MQTT)',
	airnow: 'US EPA AirNow',
	'airnow-files': 'US EPA AirNow (files)',
	'caaqm-begin': 'CPCB CAAQM',
	'caaqm-table': 'CPCB CAAQM',
	esphome: 'ESPHome',
	openaq: 'OpenAQ',
	'openaq-archive': 'OpenAQ (archive)',
	purpleair: 'PurpleAir',
	'sensor-community': 'Sensor.Community',
	'sensor-community-archive': 'Sensor.Community (archive)',
	sensorthings: 'SensorThings',
	tasmota: 'Tasmota',
	'the-things-stack': 'The Things Stack',
	zigbee2mqtt: 'Zigbee2MQTT',
};

/** outcomeText writes the outcome of a failed run. */
export function outcomeText(outcome: string): string {
	return worded('air.sources.outcome', outcome);
}

/** reasonText writes the reason for rejecting a value. */
export function reasonText(reason: string): string {
	return worded('air.reason', reason);
}
