import { bundle, createConfig } from '@redocly/openapi-core';
import { type Contract, described } from './src/webhooks/catalogue';

/**
 * eventTypes is the Vite plugin that provides `virtual:event-types`: the types of events of the contract, which are a
 * tenth of its size.
 */
export function eventTypes(): {
	name: string;
	resolveId: (id: string) => string | undefined;
	load: (id: string) => Promise<string | undefined>;
} {
	return {
		name: 'event-types',
		resolveId: (id) => (id === 'virtual:event-types' ? '\0virtual:event-types' : undefined),
		load: async (id) => {
			if (id !== '\0virtual:event-types') {
				return undefined;
			}
			const ref = `${import.meta.dirname}/../../../schema/openapi.yaml`;
			const { bundle: contract } = await bundle({ ref, config: await createConfig({}) });
			return `export default ${JSON.stringify(described(contract.parsed as Contract))};`;
		},
	};
}
