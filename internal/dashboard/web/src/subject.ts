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
