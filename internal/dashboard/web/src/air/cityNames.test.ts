import { expect, test } from 'vitest';
import { otherNames } from '../../otherNames';
import { foundAs } from './cityNames';

const names = otherNames();
const found = (typed: string, city: string, shown = city) => foundAs(typed, [shown], names[city] ?? []);

test('an old name, a new name and a misspelling are named', () => {
	expect(found('Madras', 'Chennai')).toBe('Madras');
	expect(found('madr', 'Chennai')).toBe('Madras');
	expect(found('belagavi', 'Belgaum')).toBe('Belagavi');
	expect(found('Sambhaji', 'Aurangabad, Maharashtra')).toBe('Sambhajinagar');
	expect(found('बैंगलोर', 'Bengaluru', 'बेंगलुरु')).toBe('बैंगलोर');
});

test('a name that the page shows is not repeated', () => {
	expect(found('chenn', 'Chennai')).toBeUndefined();
	expect(found('चेन्न', 'Chennai', 'चेन्नई')).toBeUndefined();
});

test('a similar name that is in no list has no note', () => {
	expect(found('Madrass', 'Chennai')).toBeUndefined();
	expect(found('', 'Chennai')).toBeUndefined();
});
