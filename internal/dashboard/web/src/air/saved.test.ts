import { expect, test } from 'vitest';
import { mostSaved, read, save, saved } from './saved';

test.each([
	[null, []],
	['["Delhi","Pune"]', ['Delhi', 'Pune']],
	['["Delhi",7,null]', ['Delhi']],
	['{"a":1}', []],
	['[', []],
])('the stored text %s is read as %o', (text, want) => {
	expect(read(text)).toEqual(want);
});

test('a city is saved once and removed, and too many drop the oldest', () => {
	for (let n = 0; n <= mostSaved; n++) {
		save(`City ${n}`, true);
	}
	save('City 1', true);
	expect(saved.value).toHaveLength(mostSaved);
	expect(saved.value.at(-1)).toBe('City 1');
	expect(saved.value).not.toContain('City 0');
	save('City 1', false);
	expect(saved.value).not.toContain('City 1');
});
