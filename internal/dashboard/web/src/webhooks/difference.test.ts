import { expect, test } from 'vitest';
import { headerDifference, lineDifference } from './difference';

const drawn = (before: string, after: string) =>
	lineDifference(before, after).map(({ kind, text }) => `${{ same: ' ', removed: '-', added: '+' }[kind]}${text}`);

test('lines that both texts have stay, the others are removed or added', () => {
	expect(drawn('a\nb\nc', 'a\nx\nc\nd')).toEqual([' a', '-b', '+x', ' c', '+d']);
	expect(drawn('', 'a')).toEqual(['+a']);
	expect(drawn('a', '')).toEqual(['-a']);
	expect(drawn('', '')).toEqual([]);
	expect(drawn('same\r\ntext', 'same\ntext')).toEqual([' same', ' text']);
});

test('JSON is compared by field', () => {
	expect(drawn('{"error":"busy","id":7}', '{"error":"down","id":7}')).toEqual([
		' {',
		'-  "error": "busy",',
		'+  "error": "down",',
		'   "id": 7',
		' }',
	]);
});

test('a thousand different lines are compared', () => {
	const text = (from: number) => Array.from({ length: 500 }, (_, n) => from + n).join('\n');
	expect(lineDifference(text(0), text(1000))).toHaveLength(1000);
});

test('headers are compared by name, with all their values', () => {
	const before = [
		{ name: 'Server', value: 'nginx' },
		{ name: 'Via', value: 'a' },
		{ name: 'Via', value: 'b' },
		{ name: 'X-Old', value: '1' },
	];
	const after = [
		{ name: 'Server', value: 'nginx' },
		{ name: 'Via', value: 'a' },
		{ name: 'X-New', value: '' },
	];
	expect(headerDifference(before, after)).toEqual([
		{ name: 'Via', before: 'a\nb', after: 'a' },
		{ name: 'X-New', before: undefined, after: '' },
		{ name: 'X-Old', before: '1', after: undefined },
	]);
});
