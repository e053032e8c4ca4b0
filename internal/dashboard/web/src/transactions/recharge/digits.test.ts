import { expect, test } from 'vitest';
import { digitsOf } from './digits';

test('a number is complete in every form that the API accepts', () => {
	const forms = ['9876543210', '+91 98765 43210', '919876543210', '098765-43210', '9198765432'];
	expect(forms.map(digitsOf)).toEqual(['9876543210', '9876543210', '9876543210', '9876543210', '9198765432']);
	expect(['', '98765', '5876543210', '98765432100', 'abc'].map(digitsOf)).toEqual(Array(5).fill(undefined));
});
