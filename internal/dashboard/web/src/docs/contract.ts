import { type Operation, samplesOf } from './samples';

interface Parameter {
	name: string;
	in: string;
	deprecated?: boolean;
	description?: string;
}

interface Described extends Operation {
	summary?: string;
	description?: string;
	deprecated?: boolean;
	parameters?: Parameter[];
	'x-code-samples'?: unknown;
}

/** Contract is the part of the OpenAPI document that /docs reads. */
export interface Contract {
	servers?: { url: string }[];
	paths: Record<string, Record<string, Described>>;
}

const methods = ['get', 'put', 'post', 'delete', 'patch'];

/** operations lists the operations of a contract. */
export function operations(contract: Contract): { method: string; path: string; operation: Described }[] {
	return Object.entries(contract.paths).flatMap(([path, item]) =>
		methods.flatMap((method) => {
			const operation = item[method];
			return operation ? [{ method, path, operation }] : [];
		}),
	);
}

/** reference is the hash of an operation in the reference. */
export const reference = (method: string, path: string) => `#?route=${method}-${path.replace(/[\s#:?&={}-]+/g, '-')}`;

/** read returns the contract of this service, with its address and with samples in all languages. */
export async function read(): Promise<Contract> {
	const reply = await fetch('/openapi.json');
	if (!reply.ok) {
		throw new Error(`/openapi.json: ${reply.status}`);
	}
	// The examples name the address of a service on this computer. A reader of this page needs the address it came from.
	const contract = JSON.parse((await reply.text()).replaceAll('http://127.0.0.1:8080', location.origin)) as Contract;
	contract.servers = [{ url: location.origin }];
	for (const { path, operation } of operations(contract)) {
		operation['x-code-samples'] = samplesOf(path, operation);
	}
	return contract;
}

/** A Deprecation is an operation or parameter that a later version removes. */
export interface Deprecation {
	name: string;
	hash: string;
	text: string;
}

/** deprecations lists what the contract marks as deprecated. */
export function deprecations(contract: Contract): Deprecation[] {
	return operations(contract).flatMap(({ method, path, operation }) => {
		const name = `${method.toUpperCase()} ${path}`;
		const hash = reference(method, path);
		const whole = operation.deprecated ? [{ name, hash, text: operation.description ?? operation.summary ?? '' }] : [];
		const parameters = (operation.parameters ?? []).filter((parameter) => parameter.deprecated);
		return [...whole, ...parameters.map((parameter) => ({ name: `${name}, ${parameter.name}`, hash, text: parameter.description ?? '' }))];
	});
}
