import MiniSearch from 'minisearch';
import type { Page } from '../../pages';
import { type Contract, operations, reference } from './contract';

/** A Found is a section of a page or an operation that matches a search. */
export interface Found {
	id: string;
	title: string;
	/** within is the title of the page. */
	within: string;
	href: string;
}

/** index makes all sections of pages and all operations searchable. The keys of `pages` are names of pages. */
export function index(pages: Record<string, Page>, contract: Contract): (query: string) => Found[] {
	const search = new MiniSearch<Found & { text: string }>({
		fields: ['title', 'within', 'text'],
		storeFields: ['title', 'within', 'href'],
		searchOptions: { boost: { title: 4, within: 2 }, prefix: true, fuzzy: (term) => (term.length > 4 ? 0.2 : false), combineWith: 'AND' },
	});
	for (const { method, path, operation } of operations(contract)) {
		const title = `${method.toUpperCase()} ${path}`;
		const text = `${operation.description ?? ''} ${(operation.parameters ?? []).map(({ name }) => name).join(' ')}`;
		search.add({ id: title, title, within: operation.summary ?? '', href: `/docs${reference(method, path)}`, text });
	}
	for (const [name, page] of Object.entries(pages)) {
		page.sections.forEach((section, n) => {
			const href = `/docs?page=${name}${n > 0 ? `#${section.id}` : ''}`;
			search.add({ id: href, title: section.title, within: page.title, href, text: section.text });
		});
	}
	return (query) => search.search(query).slice(0, 20) as unknown as Found[];
}
