import type { JSX } from 'preact';
import { Link } from 'wouter-preact';
import { Breakable } from './ui/Breakable';

const pages: Record<string, string> = {
	txn: '/recharges/',
	ver: '/verifications/',
	rbt: '/batches/',
	bat: '/batches/',
	pay: '/wallet?show=payments&id=',
	wh: '/webhooks/',
	dlv: '/deliveries/',
	evt: '/events/',
	alt: '/alerts/',
};

/** pageOf returns the dashboard page of the object with an id; undefined if it has none. */
export function pageOf(id: string): string | undefined {
	const page = pages[id.slice(0, id.indexOf('_'))];
	return page && page + id;
}

/** SubjectLink shows an id, as a link if the object has a page. */
export function SubjectLink(props: { id: string }): JSX.Element {
	const to = pageOf(props.id);
	const id = (
		<code class="id">
			<Breakable of={props.id} />
		</code>
	);
	return to ? <Link href={to}>{id}</Link> : id;
}
