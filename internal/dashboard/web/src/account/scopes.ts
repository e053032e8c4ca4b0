import type { Schemas } from '../api/client';
import type { Key } from '../i18n';

type Scope = Schemas['Scope'];

/** scopes lists every scope with a description, in the order of the form. */
export const scopes: readonly (readonly [Scope, Key])[] = [
	['aqi:read', 'account.scope.aqi:read'],
	['recharge:read', 'account.scope.recharge:read'],
	['recharge:write', 'account.scope.recharge:write'],
	['verify:read', 'account.scope.verify:read'],
	['verify:write', 'account.scope.verify:write'],
	['webhooks:manage', 'account.scope.webhooks:manage'],
	['account:read', 'account.scope.account:read'],
	['keys:manage', 'account.scope.keys:manage'],
	['readings:write', 'account.scope.readings:write'],
	['export:read', 'account.scope.export:read'],
	['alerts:manage', 'account.scope.alerts:manage'],
	['sources:read', 'account.scope.sources:read'],
];

/** networks parses a list of CIDRs that are separated by commas or white space. */
export function networks(text: string): string[] {
	return text.split(/[\s,]+/).filter((network) => network !== '');
}
