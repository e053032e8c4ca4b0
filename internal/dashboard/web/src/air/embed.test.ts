import { expect, test } from 'vitest';
import { snippets } from './embed';

const codes = (city: string, language: 'en' | 'hi', name: string) =>
	Object.fromEntries(snippets('https://air.example.com', city, language, name).map(({ id, code }) => [id, code]));

test('the code of a city has the address of its badge and the script of the widget', () => {
	expect(codes('Aurangabad, Bihar', 'en', 'AQI of Aurangabad, Bihar')).toEqual({
		widget: '<script async src="https://air.example.com/public/v1/widget.js" data-city="Aurangabad, Bihar"></script>',
		html: '<img src="https://air.example.com/public/v1/cities/Aurangabad%2C%20Bihar/badge.svg" alt="AQI of Aurangabad, Bihar">',
		markdown: '![AQI of Aurangabad, Bihar](https://air.example.com/public/v1/cities/Aurangabad%2C%20Bihar/badge.svg)',
	});
});

test('the widget has the language of the page', () => {
	expect(codes('Delhi', 'hi', '').widget).toContain('data-city="Delhi" data-lang="hi"></script>');
});

test('a name cannot end an attribute or an image', () => {
	const { widget, html, markdown } = codes('A"><script>(x)', 'en', 'A"> [x]');
	expect(widget).toContain('data-city="A&quot;&gt;&lt;script&gt;(x)"');
	expect(html).toContain('alt="A&quot;&gt; [x]"');
	expect(markdown).toMatch(/^!\[A"> \\\[x\\\]\]\([^()]+\)$/);
});
