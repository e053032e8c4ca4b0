import { expect, test } from 'vitest';
import { groups, isCurrent } from './routes';

test.each([
	['/', '/'],
	['/air/Delhi', '/'],
	['/pin/411001', '/'],
	['/compare', '/compare'],
	['/sources', '/sources'],
	['/sources/cpcb', '/sources'],
	['/recharges/new', '/recharges'],
	['/webhooks/wh_1', '/webhooks'],
	['/deliveries/dlv_1', '/deliveries'],
	['/events/evt_1', '/deliveries'],
])('%s belongs to %s in the navigation, and to no other entry', (location, to) => {
	const entries = groups.flatMap((group) => group.entries);
	expect(entries.filter((entry) => isCurrent(location, entry)).map((entry) => entry.to)).toEqual([to]);
});
