import { pageOf } from '../subject';

/** Search is what a text of a search can mean: the page of an id, or a reference, which can also be a number. */
export type Search = { page: string } | { ref: string; mobile?: string };

/**
 * searchOf interprets the text of a search. A number is a mobile number or a DTH subscriber's id, also a masked one. Four
 * digits are those that a masked mobile number shows.
 */
export function searchOf(text: string): Search {
	const trimmed = text.trim();
	const page = /^[a-z]+_[0-9A-Z]{26}$/.test(trimmed) ? pageOf(trimmed) : undefined;
	if (page) {
		return { page };
	}
	const digits = trimmed.replace(/(?<=\d)[ -]+(?=\d)/g, '').replace(/^\d{4}$/, 'XXXXXX$&');
	return { ref: trimmed, ...(/^(\+?91[6-9]\d{9}|0[6-9]\d{9}|\d{8,12}|[Xx]{4,8}\d{4})$/.test(digits) && { mobile: digits }) };
}

/** joined returns the rows of two lists without repetitions, the rows of the first list first. */
export function joined<T>(first: readonly T[], second: readonly T[], id: (row: T) => string): T[] {
	const known = new Set(first.map(id));
	return [...first, ...second.filter((row) => !known.has(id(row)))];
}
