import type { Schemas } from '../api/client';
import { pretty } from './pretty';

/** Line is a line of one or both of two texts. */
export interface Line {
	kind: 'same' | 'removed' | 'added';
	text: string;
}

/**
 * lineDifference compares two texts by lines, by their longest common subsequence. Its time is proportional to
 * the product of their numbers of lines. The stored part of an answer has one KiB, so no library is needed.
 */
export function lineDifference(before: string, after: string): Line[] {
	const [a, b] = [linesOf(before), linesOf(after)];
	// common[i][j] is the length of the longest common subsequence of the lines from i and from j.
	const common = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
	const at = (i: number, j: number) => common[i]?.[j] ?? 0;
	for (let i = a.length - 1; i >= 0; i--) {
		const row = common[i] ?? new Uint16Array();
		for (let j = b.length - 1; j >= 0; j--) {
			row[j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
		}
	}
	const out: Line[] = [];
	for (let i = 0, j = 0; i < a.length || j < b.length; ) {
		const [left, right] = [a[i], b[j]];
		if (left !== undefined && left === right) {
			out.push({ kind: 'same', text: left });
			i++;
			j++;
		} else if (left !== undefined && (right === undefined || at(i + 1, j) >= at(i, j + 1))) {
			out.push({ kind: 'removed', text: left });
			i++;
		} else {
			out.push({ kind: 'added', text: right ?? '' });
			j++;
		}
	}
	return out;
}

/** linesOf splits a text into lines. JSON is indented first, so that one changed field is one changed line. */
function linesOf(text: string): string[] {
	const json = /^\s*[[{]/.test(text) ? pretty(text) : text;
	return json === '' ? [] : json.split(/\r?\n/);
}

type Header = Schemas['Attempt']['request_headers'];

/** Field is a header of one or both of two attempts. A header that occurs several times has its values in lines. */
export interface Field {
	name: string;
	before: string | undefined;
	after: string | undefined;
}

/** headerDifference returns the headers that differ, by name. */
export function headerDifference(before: Header, after: Header): Field[] {
	const [a, b] = [valuesOf(before), valuesOf(after)];
	return [...new Set([...a.keys(), ...b.keys()])]
		.sort()
		.map((name) => ({ name, before: a.get(name), after: b.get(name) }))
		.filter((field) => field.before !== field.after);
}

function valuesOf(header: Header): Map<string, string> {
	const values = new Map<string, string>();
	for (const { name, value } of header) {
		const old = values.get(name);
		values.set(name, old === undefined ? value : `${old}\n${value}`);
	}
	return values;
}
