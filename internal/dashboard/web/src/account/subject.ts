const pages: Record<string, string> = {
	txn: '/recharges/',
	ver: '/verifications/',
	rbt: '/batches/',
	bat: '/batches/',
	wh: '/webhooks/',
	dlv: '/deliveries/',
	evt: '/events/',
};

/** about is the page of the dashboard about what an id names; undefined where there is none. */
export function about(id: string): string | undefined {
	const page = pages[id.slice(0, id.indexOf('_'))];
	return page && page + id;
}
