/** JSONSchema is a schema of the contract. */
export interface JSONSchema {
	$ref?: string;
	description?: string;
	type?: string | string[];
	const?: unknown;
	enum?: unknown[];
	format?: string;
	required?: string[];
	properties?: Record<string, JSONSchema>;
	items?: JSONSchema;
	allOf?: JSONSchema[];
	anyOf?: JSONSchema[];
	oneOf?: JSONSchema[];
	[more: string]: unknown;
}

/** Contract is the part of the OpenAPI document that describes events. */
export interface Contract {
	webhooks: Record<string, { post: Operation }>;
	components: { schemas: Record<string, JSONSchema> };
}

interface Operation {
	summary: string;
	requestBody: { content: Record<string, { schema: JSONSchema; examples: Record<string, { value: unknown }> }> };
}

/** Described is a type of event in the contract. */
export interface Described {
	type: string;
	summary: string;
	/** data is the schema of the field data, without references. */
	data: JSONSchema;
	/** example is an event of the type. */
	example: unknown;
}

/** described lists the types of events of the contract, in its order. */
export function described(contract: Contract): Described[] {
	return Object.entries(contract.webhooks).map(([type, { post }]) => {
		const content = post.requestBody.content['application/json'];
		return {
			type,
			summary: post.summary,
			data: resolved(contract, content?.schema.properties?.data ?? {}),
			example: Object.values(content?.examples ?? {})[0]?.value,
		};
	});
}

/**
 * resolved replaces the references of a schema by what they name. A schema that contains itself keeps its reference. It
 * throws if the contract does not have what a reference names.
 */
export function resolved(contract: Contract, schema: JSONSchema, within: readonly string[] = []): JSONSchema {
	const { $ref, ...own } = schema;
	// Schemas have one name in all files of the contract.
	const name = $ref?.split('/schemas/')[1];
	if (name !== undefined && within.includes(name)) {
		return schema;
	}
	if ($ref !== undefined && (name === undefined || !contract.components.schemas[name])) {
		throw new Error(`the contract does not have ${$ref}`);
	}
	const path = name === undefined ? within : [...within, name];
	const all = name === undefined ? own : { ...contract.components.schemas[name], ...own };
	const inside = (value: unknown): unknown => {
		if (Array.isArray(value)) {
			return value.map(inside);
		}
		return typeof value === 'object' && value !== null ? resolved(contract, value as JSONSchema, path) : value;
	};
	return Object.fromEntries(Object.entries(all).map(([key, value]) => [key, inside(value)]));
}

/** Field is a field of the data of an event. */
export interface Field {
	name: string;
	type: string;
	required: boolean;
	description: string;
}

/** fieldsOf lists the fields of a schema without references, and of its parts. A later part adds to an earlier one. */
export function fieldsOf(schema: JSONSchema): Field[] {
	const fields = new Map<string, Field>();
	const visit = (part: JSONSchema) => {
		for (const one of part.allOf ?? []) {
			visit(one);
		}
		for (const [name, property] of Object.entries(part.properties ?? {})) {
			fields.set(name, { name, type: typeOf(property), required: false, description: property.description ?? '' });
		}
		for (const name of part.required ?? []) {
			required.add(name);
		}
	};
	const required = new Set<string>();
	visit(schema);
	return [...fields.values()].map((field) => ({ ...field, required: required.has(field.name) }));
}

/** typeOf describes the type of a field in the words of JSON Schema. */
function typeOf(schema: JSONSchema): string {
	if (schema.const !== undefined) {
		return JSON.stringify(schema.const);
	}
	if (schema.enum) {
		return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
	}
	const choice = schema.anyOf ?? schema.oneOf;
	if (choice) {
		return [...new Set(choice.map(typeOf))].join(' | ');
	}
	if (schema.items) {
		return `${typeOf(schema.items)}[]`;
	}
	const name = [schema.type ?? 'object'].flat().join(' | ');
	return schema.format ? `${name} (${schema.format})` : name;
}
