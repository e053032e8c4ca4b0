import { expect, test } from 'vitest';
import { actionText } from './actions';
import { roleOf, roles } from './roles';

test.each(roles)('the scopes of the role %s have its name, and one more has none', (name, scopes) => {
	expect(roleOf(scopes.toReversed())).toBe(name);
	expect(roleOf([...scopes, 'readings:write'])).toBeUndefined();
});

test('a known action has a text, and an unknown one has none', () => {
	expect(actionText('key.create')).toBe('account.action.key.create');
	expect(actionText('key.dance')).toBeUndefined();
});
