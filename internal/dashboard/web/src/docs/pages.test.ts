import { expect, test } from 'vitest';
import { rendered } from '../../pages';
import type { Contract } from './contract';
import { deprecations } from './contract';
import { index } from './search';

const page = (markdown: string) =>
	rendered(markdown, 'docs/guides/air.md', (file) => file === 'docs/guides/air.md' || file === 'CHANGELOG.md');

test('headings have ids, also two of the same text', () => {
	const { title, html, sections } = page('# Air\n\nFirst.\n\n## `GET` now\n\nText.\n\n## `GET` now\n');
	expect(title).toBe('Air');
	expect(sections.map(({ id }) => id)).toEqual(['air', 'get-now', 'get-now-1']);
	expect(sections[1]?.text).toBe('Text.\n');
	expect(html).toContain('<h2 id="get-now-1"><code>GET</code> now</h2>');
});

test('links lead to pages of the site, and other files are named', () => {
	const { html } = page('[a](../../CHANGELOG.md#added) [b](#x) [c](../../Makefile) [d](https://a.example)');
	expect(html).toContain('<a href="/docs?page=changelog#added">a</a>');
	expect(html).toContain('<a href="/docs?page=guides/air#x">b</a>');
	expect(html).toContain('c (<code>Makefile</code>)');
	expect(html).toContain('<a href="https://a.example" rel="noreferrer">d</a>');
});

test('HTML in a page is text', () => {
	expect(page('<script>alert(1)</script>\n\n```html\n<b>\n```\n').html).not.toMatch(/<script|<b>/);
});

const contract: Contract = {
	paths: {
		'/v1/aqi': {
			get: { summary: 'Air of a place', parameters: [{ name: 'when', in: 'query', deprecated: true, description: 'Send date.' }] },
		},
		'/v1/old': { post: { deprecated: true, summary: 'Old' } },
	},
};

test('the search finds operations, parameters and sections, also with a misspelt word', () => {
	const search = index({ 'guides/air': page('# Air\n\n## Exposure\n\nParticulates of a street.\n') }, contract);
	expect(search('when')[0]?.href).toBe('/docs#?route=get-/v1/aqi');
	expect(search('particulats')[0]).toMatchObject({ href: '/docs?page=guides/air#exposure', title: 'Exposure', within: 'Air' });
	expect(search('zzz')).toEqual([]);
});

test('deprecated operations and parameters are listed', () => {
	expect(deprecations(contract)).toEqual([
		{ name: 'GET /v1/aqi, when', hash: '#?route=get-/v1/aqi', text: 'Send date.' },
		{ name: 'POST /v1/old', hash: '#?route=post-/v1/old', text: 'Old' },
	]);
});
