import Papa from 'papaparse';
import { expect, test } from 'vitest';
import { cell, columns, head, line } from './csv';

test('a text that starts like a formula is escaped', () => {
	for (const first of ['=', '+', '-', '@', '\t', '\r', '\n', '＝']) {
		expect(cell(`${first}cmd|' /C calc'!A1`).replace(/^"/, '').startsWith("'")).toBe(true);
	}
	expect(cell('=HYPERLINK("http://a","b")')).toBe('"\'=HYPERLINK(""http://a"",""b"")"');
});

test('numbers, booleans, lists and missing values', () => {
	expect([-1.5, 199, true, undefined, null, [], ['a', 'b'], 'आशा राव'].map(cell)).toEqual([
		'-1.5',
		'199',
		'true',
		'',
		'',
		'',
		'a b',
		'आशा राव',
	]);
});

test('a written table is parsed into the same values', () => {
	const hostile = 'A "quoted", name\r\nin two lines';
	const text =
		head('verification') +
		line('verification', { index: 3, status: 'failed', beneficiary_name: hostile, error: { code: 'x', message: 'y, z' } });
	const table = Papa.parse<Record<string, string>>(text.slice(1), { header: true, skipEmptyLines: true });
	expect(table.errors).toEqual([]);
	expect(table.meta.fields).toEqual(columns.verification);
	expect(table.data).toHaveLength(1);
	expect(table.data[0]).toMatchObject({ index: '3', beneficiary_name: hostile, error_code: 'x', error_message: 'y, z' });
});
