import { expect, test } from 'vitest';
import { type Contract, described, fieldsOf, resolved } from './catalogue';

const contract: Contract = {
	webhooks: {
		'quota.warning': {
			post: {
				summary: '80 % are used',
				requestBody: {
					content: {
						'application/json': {
							schema: { $ref: '#/components/schemas/Event', properties: { data: { $ref: '../openapi.yaml#/components/schemas/Warning' } } },
							examples: { such: { value: { id: 'evt_1' } } },
						},
					},
				},
			},
		},
	},
	components: {
		schemas: {
			Warning: {
				description: 'Reached.',
				allOf: [
					{ $ref: '#/components/schemas/Fields' },
					{ required: ['percent'], properties: { percent: { type: 'integer', const: 80 }, test: { type: 'boolean' } } },
				],
			},
			Fields: {
				required: ['period'],
				properties: {
					period: { $ref: '#/components/schemas/Month', description: 'The month.' },
					percent: { type: 'integer' },
					state: { type: 'string', enum: ['a', 'b'] },
					at: { anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }] },
					ids: { type: 'array', items: { type: 'string' } },
				},
			},
			Month: { type: 'string', description: 'A month.' },
			Tree: { properties: { child: { $ref: '#/components/schemas/Tree' } } },
		},
	},
};

test('the types of events come from the contract, with their fields and an example', () => {
	const [one] = described(contract);
	expect(one).toMatchObject({
		type: 'quota.warning',
		summary: '80 % are used',
		example: { id: 'evt_1' },
		data: { description: 'Reached.' },
	});
	expect(JSON.stringify(one?.data)).not.toContain('$ref');
	expect(fieldsOf(one?.data ?? {})).toEqual([
		{ name: 'period', type: 'string', required: true, description: 'The month.' },
		{ name: 'percent', type: '80', required: true, description: '' },
		{ name: 'state', type: '"a" | "b"', required: false, description: '' },
		{ name: 'at', type: 'string (date-time) | null', required: false, description: '' },
		{ name: 'ids', type: 'string[]', required: false, description: '' },
		{ name: 'test', type: 'boolean', required: false, description: '' },
	]);
});

test('a schema that contains itself ends', () => {
	expect(resolved(contract, { $ref: '#/components/schemas/Tree' })).toEqual({
		properties: { child: { $ref: '#/components/schemas/Tree' } },
	});
});

test('a reference to nothing is an error', () => {
	expect(() => resolved(contract, { $ref: 'sources.yaml#/schemas/Gone' })).toThrow('sources.yaml#/schemas/Gone');
});
