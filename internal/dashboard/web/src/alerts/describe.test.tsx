import { afterEach, expect, test } from 'vitest';
import { showLanguage, stateBeside } from '../i18n';
import { placeText } from './describe';

afterEach(() => showLanguage('en'));

test('a place has the name of its city in the language of the page', async () => {
	expect(placeText({ city: 'Delhi', state: 'Delhi', name: 'Delhi' })).toBe('Delhi');
	await showLanguage('hi');
	expect(placeText({ city: 'Delhi', state: 'Delhi', name: 'Delhi' })).toBe('दिल्ली');
	expect(placeText({ pincode: '411004', name: 'Pune' })).toBe('पिन कोड 411004 (पुणे)');
});

test('a state stands beside a city unless both have one name', async () => {
	expect(stateBeside('Pune', 'Maharashtra')).toBe('Maharashtra');
	expect(stateBeside('Delhi', 'Delhi')).toBe('');
	expect(stateBeside('Aurangabad, Bihar', 'Bihar')).toBe('');
	await showLanguage('hi');
	expect(stateBeside('Delhi', 'Delhi')).toBe('');
	expect(stateBeside('Pune', 'Maharashtra')).toBe('महाराष्ट्र');
});
