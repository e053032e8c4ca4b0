import { expect, test } from 'vitest';
import { groups, isAllowed, isCurrent, startOf } from './routes';

test.each([
	['/', '/'],
	['/air/Delhi', '/'],
	['/pin/411001', '/'],
	['/home', '/home'],
	['/compare', '/compare'],
	['/rankings', '/rankings'],
	['/sources', '/sources'],
	['/sources/cpcb', '/sources'],
	['/recharges/new', '/recharges'],
	['/webhooks/wh_1', '/webhooks'],
	['/event-types/quota.warning', '/webhooks'],
	['/deliveries/dlv_1', '/deliveries'],
	['/events/evt_1', '/events'],
])('%s belongs to %s in the navigation, and to no other entry', (location, to) => {
	const entries = groups.flatMap((group) => group.entries);
	expect(entries.filter((entry) => isCurrent(location, entry)).map((entry) => entry.to)).toEqual([to]);
});

test('a key starts at a page that it can use', () => {
	expect(startOf(() => true)).toBe('/');
	expect(startOf((scope) => scope === 'webhooks:manage')).toBe('/home');
});

test('batches are for keys that can read one of their kinds', () => {
	const batches = groups.flatMap(({ entries }) => entries).find(({ to }) => to === '/batches') ?? { to: '', name: 'shell.batches' };
	expect(isAllowed(batches, (scope) => scope === 'verify:read')).toBe(true);
	expect(isAllowed(batches, (scope) => scope === 'aqi:read')).toBe(false);
});
