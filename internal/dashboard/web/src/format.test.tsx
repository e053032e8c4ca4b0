import { afterEach, expect, test } from 'vitest';
import { stamp } from './air/stamp';
import { hour, instant } from './format';
import { showLanguage } from './i18n';

afterEach(() => showLanguage('en'));

test('times in Hindi have the part of the day and the zone in Hindi', async () => {
	await showLanguage('hi');
	expect(hour('2026-11-21T08:30:05Z')).toBe('21 नव॰ 2026, दोपहर 2:00 भारतीय समय');
	expect(instant('2026-11-21T08:30:05Z')).toBe('21 नव॰ 2026, दोपहर 2:00:05 भारतीय समय');
	expect(stamp(Date.parse('2026-11-21T20:30:05Z') / 1000, 'hour')).toBe('22 नव॰ 2026, रात 2:00');
});
