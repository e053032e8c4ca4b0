import { useEffect, useRef, useState } from 'preact/hooks';
import type { Page } from '../../pages';
import { type Contract, type Deprecation, deprecations, read } from './contract';
import { type Found, index } from './search';

type Load = () => Promise<{ default: Page }>;

/** files are the Markdown files of the project by the name of their page. */
const files: Record<string, Load> = Object.fromEntries(
	Object.entries(
		import.meta.glob<{ default: Page }>([
			'../../../../../docs/*.md',
			'../../../../../docs/guides/*.md',
			'../../../../../docs/operations/*.md',
			'../../../../../CHANGELOG.md',
		]),
	).map(([file, load]) => [
		file
			.replace(/^.*\/docs\/|^(\.\.\/)+/, '')
			.replace(/\.md$/, '')
			.toLowerCase(),
		load,
	]),
);

/** labels are the texts of links whose page has a name that says too little. */
const labels: Readonly<Record<string, string>> = {
	'guides/air': 'Air quality',
	'guides/analysis': 'Analysis with SQL',
	'guides/collection': 'Collection of readings',
	'guides/forecast': 'Forecasts',
	'guides/mqtt': 'Sensors over MQTT',
	'guides/partitions': 'Networks of two levels',
	'guides/public': 'The public edge',
	'guides/push': 'Own stations',
	'guides/sdk': 'SDKs',
	'guides/signup': 'Sign-up',
	'guides/source-problems': 'Problems of sources',
	'guides/tools': 'Tools for analysis',
	'operations/readme': 'Overview',
	'operations/clickhouse': 'ClickHouse',
	'operations/postgresql': 'PostgreSQL',
	banks: 'Connecting a bank',
	files: 'Files for import',
	languages: 'Languages of advice',
	operators: 'Connecting an operator',
	quality: 'Quality of readings',
	security: 'Threat model',
	webhooks: 'Receiving webhooks',
};

/** labelOf returns the text of the link to a page. */
const labelOf = (name: string) => {
	const text = (name.split('/').at(-1) ?? name).replace(/-/g, ' ');
	return labels[name] ?? text.charAt(0).toUpperCase() + text.slice(1);
};

/** developers and analysts are the guides for people who call the API, and for those who query its data, in reading order. */
const developers = [
	...['air', 'forecast', 'scales', 'alerts', 'push', 'recharges', 'verifications', 'webhooks'].map((name) => `guides/${name}`),
	'webhooks',
	...['sdk', 'accounts', 'members', 'dashboard'].map((name) => `guides/${name}`),
];
const analysts = ['guides/analysis', 'guides/tools', 'guides/export', 'quality'];

/** others are pages for everyone who works on Vayu. */
const others = ['glossary', 'languages', 'security'];

/** operators are the guides for people who run the service: all pages that are not in another group. */
const operators = Object.keys(files).filter(
	(name) => !name.startsWith('operations/') && name !== 'changelog' && ![...developers, ...analysts, ...others].includes(name),
);

const groups: { title: string; names: string[] }[] = [
	{ title: 'Guides for developers', names: developers },
	{ title: 'Guides for analysts', names: analysts },
	{ title: 'Guides for operators', names: operators },
	{ title: 'Operation of a service', names: Object.keys(files).filter((name) => name.startsWith('operations/')) },
	{ title: 'More', names: others },
];

const current = () => new URLSearchParams(location.search).get('page') ?? '';

/** useLoaded returns the result or the error of an asynchronous function, and {} until the function ends. */
function useLoaded<T>(load: () => Promise<T>, key: string): { value?: T; error?: string } {
	const [state, setState] = useState<{ key?: string; value?: T; error?: string }>({});
	useEffect(() => {
		let wanted = true;
		load().then(
			(value) => wanted && setState({ key, value }),
			(error: unknown) => wanted && setState({ key, error: String(error) }),
		);
		return () => {
			wanted = false;
		};
	}, [key]);
	return state.key === key ? state : {};
}

/** attributes are settings of the viewer. It takes colours as numbers only. light and dark repeat those of tokens.css. */
const attributes = {
	'hide-search': '',
	'hide-server-selection': '',
	'hide-components': '',
	'server-url': location.origin,
	'fetch-credentials': 'omit',
};
const light = {
	'bg-color': '#ffffff',
	'text-color': '#15202b',
	'header-color': '#15202b',
	'primary-color': '#0b5fa5',
	'secondary-color': '#0b5fa5',
	'nav-bg-color': '#f6f7f9',
	'nav-text-color': '#15202b',
	'nav-hover-bg-color': '#eef1f5',
	'nav-hover-text-color': '#0b5fa5',
};
const dark = {
	'bg-color': '#191f26',
	'text-color': '#e9eef3',
	'header-color': '#e9eef3',
	'primary-color': '#6db5f2',
	'secondary-color': '#6db5f2',
	'nav-bg-color': '#11151a',
	'nav-text-color': '#e9eef3',
	'nav-hover-bg-color': '#232b34',
	'nav-hover-text-color': '#6db5f2',
};

function Reference({ contract }: { contract: Contract }) {
	const host = useRef<HTMLDivElement>(null);
	const failure = useLoaded(async () => {
		await import('openapi-explorer/dist/browser/openapi-explorer.min.js');
		const explorer = document.createElement('openapi-explorer') as HTMLElement & { loadSpec: (of: unknown) => Promise<void> };
		for (const [name, value] of Object.entries({ ...attributes, ...(matchMedia('(prefers-color-scheme: dark)').matches ? dark : light) })) {
			explorer.setAttribute(name, value);
		}
		host.current?.replaceChildren(explorer);
		await explorer.loadSpec(structuredClone(contract));
	}, 'reference').error;
	return (
		<div class="reference" ref={host}>
			{failure}
		</div>
	);
}

function Article({ name, load }: { name: string; load: Load }) {
	const { value, error } = useLoaded(load, name);
	useEffect(() => {
		if (value) {
			document.title = `${value.default.title} – Vayu`;
			document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
		}
	}, [value]);
	if (error) return <p role="alert">The page cannot be loaded: {error}</p>;
	// The build makes the HTML from files of the project.
	return value ? <article dangerouslySetInnerHTML={{ __html: value.default.html }} /> : <p>Loading …</p>;
}

function Deprecations({ list }: { list: Deprecation[] }) {
	return (
		<article>
			<h1>Deprecations</h1>
			{list.length === 0 ? (
				<p>The API has no deprecated operation or parameter.</p>
			) : (
				<ul>
					{list.map(({ name, hash, text }) => (
						<li key={name}>
							<a href={`/docs${hash}`}>{name}</a> {text}
						</li>
					))}
				</ul>
			)}
			<p>
				The <a href="/docs?page=changelog">changelog</a> has all changes by version. <a href="/docs?page=operations/upgrade">Upgrades</a>{' '}
				says which versions work together.
			</p>
		</article>
	);
}

function Search({ contract }: { contract: Contract | undefined }) {
	const [query, setQuery] = useState('');
	const [find, setFind] = useState<(query: string) => Found[]>();
	// The search needs all pages. The first character of a query loads them.
	const wanted = query !== '' && contract !== undefined;
	useEffect(() => {
		if (wanted && !find) {
			void Promise.all(Object.entries(files).map(async ([name, load]) => [name, (await load()).default] as const)).then((all) => {
				const search = index(Object.fromEntries(all), contract as Contract);
				setFind(() => search);
			});
		}
	}, [wanted]);
	const found = find && query.trim() ? find(query) : undefined;
	return (
		<search>
			<label>
				Search <input type="search" value={query} onInput={(event) => setQuery(event.currentTarget.value)} />
			</label>
			<div role="status">
				{found && found.length === 0 && <p class="found">Nothing matches “{query}”.</p>}
				{found && found.length > 0 && (
					<ol class="found">
						{found.map(({ id, title, within, href }) => (
							<li key={id}>
								<a href={href}>
									{title} <small>{within}</small>
								</a>
							</li>
						))}
					</ol>
				)}
			</div>
		</search>
	);
}

function NoPage({ name }: { name: string }) {
	return (
		<article>
			<h1>Page not found</h1>
			<p role="alert">There is no page {name}.</p>
			<p>
				Search for it above, or begin with the <a href="/docs">API reference</a> or the guide{' '}
				<a href="/docs?page=guides/air">Air quality</a>.
			</p>
		</article>
	);
}

/** Site is the page /docs: the reference of the API, the guides, the changelog and a search in all of them. */
export function Site() {
	const { value: contract, error } = useLoaded(read, 'contract');
	const page = current();
	const load = files[page];
	// On a phone the page stands below the list of all pages, which begins folded.
	const [narrow] = useState(() => matchMedia('(max-width: 48rem)').matches);
	const entry = (name: string, text: string) => (
		<li key={name}>
			<a href={name ? `/docs?page=${name}` : '/docs'} aria-current={name === page ? 'page' : undefined}>
				{text}
			</a>
		</li>
	);
	// The reference has a list of its own at the side, so that the pages stand above it and are unfolded on demand.
	const known = page === 'changelog' || page === 'deprecations' ? developers : groups.find(({ names }) => names.includes(page))?.names;
	const contents = (
		<>
			<ul>
				{entry('', 'API reference')}
				{entry('changelog', 'Changelog')}
				{entry('deprecations', 'Deprecations')}
			</ul>
			{groups.map(({ title, names }) => (
				<details key={title} name={page === '' ? 'group' : undefined} open={names === known}>
					<summary>{title}</summary>
					<ul>{names.map((name) => entry(name, labelOf(name)))}</ul>
				</details>
			))}
		</>
	);
	return (
		<>
			<header>
				<a href="/docs">Vayu API</a>
				<Search contract={contract} />
				<a href="/dashboard/">Dashboard</a>
			</header>
			<nav aria-label="Pages" class={page === '' ? 'across' : undefined}>
				{narrow ? (
					<details>
						<summary>All pages</summary>
						{contents}
					</details>
				) : (
					contents
				)}
			</nav>
			<div class="content">
				{error && <p role="alert">The API reference cannot be loaded. Reload the page to try again. ({error})</p>}
				{page === '' && contract && <Reference contract={contract} />}
				{page !== '' && (
					<main>
						{load && <Article name={page} load={load} />}
						{page === 'deprecations' && contract && <Deprecations list={deprecations(contract)} />}
						{!load && page !== 'deprecations' && <NoPage name={page} />}
					</main>
				)}
			</div>
		</>
	);
}
