import type { JSX } from 'preact';
import { Link } from 'wouter-preact';

const pages: Record<string, string> = {
	txn: '/recharges/',
	ver: '/verifications/',
	rbt: '/batches/',
	bat: '/batches/',
	pay: '/wallet?show=payments&id=',
	wh: '/webhooks/',
	dlv: '/deliveries/',
	evt: '/events/',
};

/** pageOf is the page of the dashboard about what an id names; undefined where there is none. */
export function pageOf(id: string): string | undefined {
	const page = pages[id.slice(0, id.indexOf('_'))];
	return page && page + id;
}

/** SubjectLink is an id that links to the page about what it names, if there is one. */
export function SubjectLink(props: { id: string }): JSX.Element {
	const to = pageOf(props.id);
	const id = <code class="id">{props.id}</code>;
	return to ? <Link href={to}>{id}</Link> : id;
}
