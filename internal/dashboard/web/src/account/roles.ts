import type { Schemas } from '../api/client';

type Scope = Schemas['Scope'];

/** roles are usual sets of scopes, by what a person does with the key. */
export const roles = [
	['air', ['aqi:read']],
	['support', ['aqi:read', 'recharge:read', 'verify:read']],
	['money', ['recharge:read', 'recharge:write', 'verify:read', 'verify:write']],
	['webhooks', ['webhooks:manage', 'account:read']],
	['admin', ['account:read', 'keys:manage']],
] as const satisfies readonly (readonly [string, readonly Scope[]])[];

/** RoleName is the name of a role. */
export type RoleName = (typeof roles)[number][0];

/** roleOf returns the role that has exactly these scopes; undefined if none has. */
export function roleOf(scopes: Iterable<Scope>): RoleName | undefined {
	const have = new Set(scopes);
	return roles.find(([, of]) => of.length === have.size && of.every((scope) => have.has(scope)))?.[0];
}
