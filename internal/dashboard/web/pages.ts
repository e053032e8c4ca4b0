import { readFileSync } from 'node:fs';
import { dirname, join, normalize, relative, resolve } from 'node:path';
import { Marked, marked, type Tokens } from 'marked';

/** root is the folder of the project. */
const root = resolve(import.meta.dirname, '../../..');

/** A Section is a heading of a page and the text below it, for the search. */
export interface Section {
	id: string;
	title: string;
	text: string;
}

/** A Page is a Markdown file of the project as HTML. */
export interface Page {
	title: string;
	html: string;
	sections: Section[];
}

const escaped = (text: string) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');

/** slug is the id of a heading, as on code hosts. */
const slug = (text: string) =>
	text
		.toLowerCase()
		.replace(/[^\p{L}\p{N}\s_-]/gu, '')
		.trim()
		.replace(/\s/g, '-');

/** nameOf returns the name of a page in its address: `guides/air` for docs/guides/air.md, and `changelog`. */
export const nameOf = (file: string) =>
	file
		.replace(/^docs\//, '')
		.replace(/\.md$/, '')
		.toLowerCase();

/** rendered converts Markdown. file is its path in the project. Links to files that are no pages become text. */
export function rendered(markdown: string, file: string, isPage: (file: string) => boolean): Page {
	const sections: Section[] = [];
	const ids = new Map<string, number>();
	const tokens = marked.lexer(markdown);
	marked.walkTokens(tokens, (token) => {
		const last = sections.at(-1);
		if (token.type === 'heading') {
			const base = slug(token.text);
			const count = ids.get(base) ?? 0;
			ids.set(base, count + 1);
			sections.push({ id: count ? `${base}-${count}` : base, title: token.text.replace(/[`*]/g, ''), text: '' });
		} else if (last && ['paragraph', 'code', 'list_item', 'table'].includes(token.type)) {
			last.text += `${(token as Tokens.Generic).text ?? token.raw}\n`;
		}
	});
	let heading = 0;
	const html = new Marked({
		renderer: {
			heading({ tokens: inner, depth }) {
				return `<h${depth} id="${sections[heading++]?.id}">${this.parser.parseInline(inner)}</h${depth}>\n`;
			},
			// Wide tables and code scroll, so the keyboard must reach them.
			code: ({ text, lang }) =>
				`<pre tabindex="0" data-language="${escaped((lang ?? '').split(' ')[0] ?? '')}"><code>${escaped(text)}</code></pre>\n`,
			link({ href, tokens: inner }) {
				const text = this.parser.parseInline(inner);
				if (/^(https?:|mailto:)/.test(href)) {
					return `<a href="${escaped(href)}" rel="noreferrer">${text}</a>`;
				}
				const [path = '', fragment] = href.split('#');
				const target = path ? normalize(join(dirname(file), path)) : file;
				return isPage(target)
					? `<a href="/docs?page=${nameOf(target)}${fragment ? `#${fragment}` : ''}">${text}</a>`
					: `${text} (<code>${escaped(target)}</code>)`;
			},
			html: ({ text }) => escaped(text),
		},
	})
		.parser(tokens)
		.replace(/<table>/g, '<div class="wide" tabindex="0"><table>')
		.replace(/<\/table>/g, '</table></div>');
	return { title: sections[0]?.title ?? nameOf(file), html, sections };
}

/** published reports whether a file of the project is a page of /docs. */
const published = (file: string) => /^(docs\/((guides|operations)\/)?[\w-]+\.md|CHANGELOG\.md)$/.test(file);

/** markdownPages is the Vite plugin that imports a Markdown file of the project as a Page. */
export function markdownPages(): { name: string; load: (id: string) => string | undefined } {
	return {
		name: 'markdown-pages',
		load(id) {
			if (!id.endsWith('.md')) {
				return undefined;
			}
			const file = relative(root, id);
			return `export default ${JSON.stringify(rendered(readFileSync(id, 'utf8'), file, published))};`;
		},
	};
}
