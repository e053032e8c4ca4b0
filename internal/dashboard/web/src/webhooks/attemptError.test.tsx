import { readFileSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { showLanguage } from '../i18n';
import { attemptError, statusOf } from './attemptError';

const source = readFileSync('dispatch/sender/explain.go', 'utf8');

afterEach(() => showLanguage('en'));

test('each reason that the sender can give has its text in English, and another one in Hindi', async () => {
	const constants = [...source.matchAll(/^\ttext\w+ += "(.*)"$/gm)].map(([, text]) => text ?? '');
	const slow = [...source.matchAll(/return "(.*)" \+ within/g)].map(([, text]) => text ?? '');
	expect(constants.length).toBeGreaterThan(15);
	expect(slow).toHaveLength(5);
	const reasons = [...constants, ...slow.map((text) => `${text} within 5s`)].map((error) => ({ error, http_status: null }));
	expect(reasons.map(attemptError)).toEqual(reasons.map(({ error }) => error));
	await showLanguage('hi');
	expect(reasons.filter((reason) => attemptError(reason) === reason.error)).toEqual([]);
});

test('the reason of a failed attempt is in the language of the page', async () => {
	const answered = { error: 'the receiver answered 500 Internal Server Error', http_status: 500 };
	const moved = { error: 'the receiver answered 301 Moved Permanently; redirects are not followed', http_status: 301 };
	expect(attemptError(answered)).toBe(answered.error);
	expect([answered, moved].map(statusOf)).toEqual(['500 Internal Server Error', '301 Moved Permanently']);
	await showLanguage('hi');
	expect(attemptError(answered)).toBe('रिसीवर ने 500 Internal Server Error का उत्तर दिया');
	expect(attemptError(moved)).toContain('301 Moved Permanently');
	expect(attemptError({ error: 'the receiver did not answer within 5s', http_status: null })).toBe('रिसीवर ने उत्तर नहीं दिया (5 से॰ के भीतर)');
	expect(attemptError({ error: 'the receiver refused the connection', http_status: null })).toBe('रिसीवर ने कनेक्शन अस्वीकार किया');
	expect(attemptError({ error: 'a text of another version', http_status: null })).toBe('a text of another version');
});
