import type { Schemas } from '../api/client';
import type { Key } from '../i18n';

type Scope = Schemas['Scope'];

/** scopes is every scope in the order in which people think of them, with what it allows in words. */
export const scopes: readonly (readonly [Scope, Key])[] = [
	['aqi:read', 'account.scope.aqi:read'],
	['recharge:read', 'account.scope.recharge:read'],
	['recharge:write', 'account.scope.recharge:write'],
	['verify:read', 'account.scope.verify:read'],
	['verify:write', 'account.scope.verify:write'],
	['webhooks:manage', 'account.scope.webhooks:manage'],
	['account:read', 'account.scope.account:read'],
	['keys:manage', 'account.scope.keys:manage'],
];

/** networks reads what a person typed as a list of CIDRs, with commas or blanks between. */
export function networks(text: string): string[] {
	return text.split(/[\s,]+/).filter((network) => network !== '');
}
