import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { snippets } from './snippets';

test('the snippets equal those of the documentation, which a test runs', () => {
	const text = readFileSync(new URL('../../../../../docs/webhooks.md', import.meta.url), 'utf8');
	for (const { name, code } of snippets) {
		expect(text, name).toContain(code);
	}
});
