/** A sample is a program that makes one call, in the form of the OpenAPI extension x-codeSamples. */
export interface Sample {
	lang: string;
	label: string;
	source: string;
}

/** An Operation is the part of an operation of the contract that samples need. */
export interface Operation {
	'x-codeSamples'?: Sample[];
	security?: unknown[];
	responses?: Record<string, { content?: Record<string, unknown> }>;
}

interface Call {
	method: string;
	route: string;
	path: Record<string, string>;
	query: Record<string, string>;
	headers: Record<string, string>;
	/** body is the JSON of the request. */
	body?: unknown;
	idempotencyKey?: string;
	/** file is the name under which the sample stores the reply. */
	file?: string;
	/** keyed is true if the operation needs an API key. */
	keyed: boolean;
	/** json is true if the reply is JSON. */
	json: boolean;
}

/** words splits a shell command into words. The samples of the contract have quotes and continued lines, and no escapes. */
export function words(command: string): string[] {
	const found: string[] = [];
	for (const [, double, single, plain] of command.replace(/\\\n/g, ' ').matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)) {
		found.push(double ?? single ?? plain ?? '');
	}
	return found;
}

/** variables returns the values that a path has for the variables of its route, or undefined for another route. */
function variables(route: string, path: string): Record<string, string> | undefined {
	const names = [...route.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
	const form = route.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '([^/]+?)');
	const match = new RegExp(`^${form}$`).exec(path);
	return match ? Object.fromEntries(names.map((name, i) => [name, decodeURIComponent(match[i + 1] ?? '')])) : undefined;
}

/**
 * parse reads a curl command of the contract. It returns undefined for calls that an SDK does not make: those with cookies
 * of the dashboard, with bodies that are not JSON, and those that continue a file.
 */
export function parse(route: string, operation: Operation, command: string): Call | undefined {
	const call: Call = { method: '', route, path: {}, query: {}, headers: {}, keyed: false, json: false };
	const list = words(command);
	for (let i = 1; i < list.length; i++) {
		const word = list[i] ?? '';
		if (['-N', '-f', '--compressed'].includes(word)) {
			continue;
		}
		if (!word.startsWith('-')) {
			const url = new URL(word.replace('$BASE', 'http://service'));
			const path = variables(route, decodeURI(url.pathname));
			if (!path) {
				return undefined;
			}
			call.path = path;
			call.query = Object.fromEntries(url.searchParams);
			continue;
		}
		const value = list[++i] ?? '';
		const [name = '', ...rest] = value.split(': ');
		if (word === '-X') {
			call.method = value.toLowerCase();
		} else if (word === '-o') {
			call.file = value;
		} else if (word === '-d') {
			try {
				call.body = JSON.parse(value);
			} catch {
				return undefined;
			}
		} else if (word !== '-H') {
			return undefined;
		} else if (name === 'Authorization') {
			call.keyed = true;
		} else if (name === 'Idempotency-Key') {
			call.idempotencyKey = rest.join(': ');
		} else if (name === 'Content-Type') {
			if (value !== 'Content-Type: application/json') {
				return undefined;
			}
		} else {
			call.headers[name] = rest.join(': ');
		}
	}
	call.method ||= call.body === undefined ? 'get' : 'post';
	const success = Object.entries(operation.responses ?? {}).find(([status]) => status.startsWith('2'))?.[1];
	const other = call.query.format !== undefined || (call.headers.Accept ?? 'application/json') !== 'application/json';
	if (/\.(png|mvt)$/.test(route)) {
		call.file ??=
			route
				.split('/')
				.at(-1)
				?.replace(/\{\w+\}/, 'tile') ?? '';
	}
	call.json = 'application/json' in (success?.content ?? {}) && !other && !call.file;
	return call;
}

const identifier = /^[A-Za-z_]\w*$/;

/** object writes a value as an expression of TypeScript on one line. */
function object(value: unknown): string {
	if (Array.isArray(value)) {
		return `[${value.map(object).join(', ')}]`;
	}
	if (typeof value === 'object' && value !== null) {
		const members = Object.entries(value).map(([name, of]) => `${identifier.test(name) ? name : object(name)}: ${object(of)}`);
		return members.length > 0 ? `{ ${members.join(', ')} }` : '{}';
	}
	return typeof value === 'string' ? `'${JSON.stringify(value).slice(1, -1).replace(/\\"/g, '"').replace(/'/g, "\\'")}'` : String(value);
}

function typescript(call: Call): string {
	const empty = (of: object) => Object.keys(of).length === 0;
	if (!call.keyed) {
		const query = new URLSearchParams(call.query).toString();
		const path = call.route.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(call.path[name] ?? ''));
		const request = `const reply = await fetch(\`\${process.env.API}${path}${query && `?${query}`}\`);\n`;
		return request + (call.json ? 'console.log(await reply.json());\n' : 'console.log((await reply.arrayBuffer()).byteLength);\n');
	}
	const start = `import { Vayu } from 'vayu-sdk';\n\nconst vayu = new Vayu({ baseUrl: process.env.API!, key: process.env.KEY! });\n`;
	if (call.route === '/v1/live') {
		const kinds = call.query.kinds ? `{ kinds: ${object(call.query.kinds.split(','))} }` : '';
		return `${start}for await (const message of vayu.live(${kinds})) {\n\tconsole.log(message);\n}\n`;
	}
	const parts: string[] = [];
	// Numbers have no quotes, because the types of the SDK distinguish them. Pin codes and mobile numbers are texts.
	const typed = (of: Record<string, string>) =>
		Object.fromEntries(Object.entries(of).map(([name, text]) => [name, /^\d{1,4}$/.test(text) ? Number(text) : text]));
	if (!empty(call.path)) parts.push(`path: ${object(typed(call.path))}`);
	if (!empty(call.query)) parts.push(`query: ${object(typed(call.query))}`);
	if (!empty(call.headers)) parts.push(`headers: ${object(call.headers)}`);
	if (call.idempotencyKey) parts.push(`idempotencyKey: ${object(call.idempotencyKey)}`);
	if (call.body !== undefined) parts.push(`body: ${object(call.body)}`);
	const options = parts.length > 0 ? `, {\n\t${parts.join(',\n\t')},\n}` : '';
	if (call.json) {
		return `${start}const reply = await vayu.${call.method}('${call.route}'${options});\nconsole.log(reply);\n`;
	}
	const read = `${start}const reply = await vayu.response('${call.route}'${options});\n`;
	return call.file
		? `import { writeFile } from 'node:fs/promises';\n${read}await writeFile('${call.file}', Buffer.from(await reply.arrayBuffer()));\n`
		: `${read}console.log(await reply.text());\n`;
}

/** literal writes a value as an expression of Python. */
function literal(value: unknown): string {
	if (Array.isArray(value)) {
		return `[${value.map(literal).join(', ')}]`;
	}
	if (typeof value === 'object' && value !== null) {
		return `{${Object.entries(value)
			.map(([name, of]) => `${literal(name)}: ${literal(of)}`)
			.join(', ')}}`;
	}
	if (typeof value === 'boolean') {
		return value ? 'True' : 'False';
	}
	return value === null ? 'None' : JSON.stringify(value);
}

function python(call: Call): string {
	const named = (name: string, of: object) => (Object.keys(of).length > 0 ? [`${name}=${literal(of)}`] : []);
	if (!call.keyed) {
		const path = call.route.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(call.path[name] ?? ''));
		const parts = [`os.environ["API"] + ${literal(path)}`, ...named('params', call.query)];
		const show = call.json ? 'reply.json()' : 'len(reply.content), "bytes"';
		return `import os\n\nimport httpx\n\nreply = httpx.get(${parts.join(', ')})\nprint(${show})\n`;
	}
	const start = `import os\n\nfrom vayu_sdk import Vayu\n\nvayu = Vayu(os.environ["API"], os.environ["KEY"])\n`;
	if (call.route === '/v1/live') {
		return `${start}for message in vayu.live(${call.query.kinds ? literal(call.query.kinds.split(',')) : ''}):\n    print(message)\n`;
	}
	const parts = [
		literal(call.route),
		...named('path', call.path),
		...named('query', call.query),
		...named('headers', call.headers),
		...(call.idempotencyKey ? [`idempotency_key=${literal(call.idempotencyKey)}`] : []),
		...(call.body === undefined ? [] : [`body=${literal(call.body)}`]),
	];
	const given = parts.length > 1 ? `\n    ${parts.join(',\n    ')},\n` : parts[0];
	if (call.json) {
		return `${start}reply = vayu.${call.method}(${given})\nprint(reply)\n`;
	}
	const use = call.file
		? `    with open(${literal(call.file)}, "wb") as file:\n        file.write(reply.read())\n`
		: '    print(reply.read().decode())\n';
	return `${start}with vayu.response(${given}) as reply:\n${use}`;
}

/** composite writes a value as an expression of Go. */
function composite(value: unknown): string {
	if (Array.isArray(value)) {
		return `[]any{${value.map(composite).join(', ')}}`;
	}
	if (typeof value === 'object' && value !== null) {
		const members = Object.entries(value).map(([name, of]) => `${JSON.stringify(name)}: ${composite(of)}`);
		return `map[string]any{${members.join(', ')}}`;
	}
	return value === null ? 'nil' : JSON.stringify(value);
}

/** program writes a Go program. lines are the statements of main, with one tab. */
function program(imports: string[], lines: string[]): string {
	const standard = imports.filter((path) => !path.includes('vayu.example')).sort();
	const own = imports.filter((path) => path.includes('vayu.example')).map((path) => `\tvayu "${path}"\n`);
	const list = standard.map((path) => `\t"${path}"\n`).join('') + (own.length > 0 ? `\n${own.join('')}` : '');
	return `package main\n\nimport (\n${list})\n\nfunc main() {\n${lines.map((line) => `\t${line}\n`).join('')}}\n`;
}

function go(call: Call): string {
	const fatal = ['if err != nil {', '\tlog.Fatal(err)', '}'];
	if (!call.keyed) {
		const query = new URLSearchParams(call.query).toString();
		const path = call.route.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(call.path[name] ?? ''));
		return program(
			['fmt', 'io', 'log', 'net/http', 'os'],
			[
				`reply, err := http.Get(os.Getenv("API") + ${JSON.stringify(path + (query && `?${query}`))})`,
				...fatal,
				'defer reply.Body.Close()',
				'body, err := io.ReadAll(reply.Body)',
				...fatal,
				call.json ? 'fmt.Println(string(body))' : 'fmt.Println(len(body), "bytes")',
			],
		);
	}
	const sdk = 'vayu.example/sdk';
	const client = 'client := &vayu.Client{BaseURL: os.Getenv("API"), Key: vayu.StaticKey(os.Getenv("KEY"))}';
	if (call.route === '/v1/live') {
		const kinds = (call.query.kinds ?? '').split(',').map((kind) => JSON.stringify(kind));
		const options = call.query.kinds ? `vayu.LiveOptions{Kinds: []string{${kinds.join(', ')}}}` : 'vayu.LiveOptions{}';
		return program(
			['context', 'fmt', 'log', 'os', sdk],
			[
				client,
				`for message, err := range client.Live(context.Background(), ${options}) {`,
				...fatal.map((line) => `\t${line}`),
				'\tfmt.Printf("%+v\\n", message)',
				'}',
			],
		);
	}
	const imports = ['context', 'log', 'os', sdk];
	const fields: string[] = [];
	const pairs = (of: Record<string, string>, list: boolean) =>
		Object.entries(of)
			.map(([name, text]) => `${JSON.stringify(name)}: ${list ? `{${JSON.stringify(text)}}` : JSON.stringify(text)}`)
			.join(', ');
	if (Object.keys(call.query).length > 0) {
		imports.push('net/url');
		fields.push(`Query: url.Values{${pairs(call.query, true)}}`);
	}
	if (Object.keys(call.path).length > 0) fields.push(`Path: map[string]string{${pairs(call.path, false)}}`);
	if (Object.keys(call.headers).length > 0) {
		imports.push('net/http');
		fields.push(`Header: http.Header{${pairs(call.headers, true)}}`);
	}
	if (call.idempotencyKey) fields.push(`IdempotencyKey: ${JSON.stringify(call.idempotencyKey)}`);
	const lines = [client, `call := vayu.Call{${fields.join(', ')}}`];
	const method = `${call.method.charAt(0).toUpperCase()}${call.method.slice(1)}`;
	const given = `context.Background(), ${JSON.stringify(call.route)}, call`;
	if (call.json) {
		imports.push('encoding/json', 'fmt');
		let body = '';
		if (['post', 'put', 'patch'].includes(call.method)) {
			body = call.body === undefined ? ', nil' : ', body';
			if (call.body !== undefined) lines.push(`body := ${composite(call.body)}`);
		}
		lines.push('var reply json.RawMessage', `err := client.${method}(${given}${body}, &reply)`, ...fatal, 'fmt.Println(string(reply))');
		return program(imports, lines);
	}
	imports.push('io');
	lines.push(`reply, err := client.Response(${given})`, ...fatal, 'defer reply.Body.Close()');
	if (call.file) {
		lines.push(
			`file, err := os.Create(${JSON.stringify(call.file)})`,
			...fatal,
			'defer file.Close()',
			'_, err = io.Copy(file, reply.Body)',
			...fatal,
		);
	} else {
		lines.push('_, err = io.Copy(os.Stdout, reply.Body)', ...fatal);
	}
	return program(imports, lines);
}

/**
 * samplesOf returns the samples of an operation: each curl command of the contract, and the same call in TypeScript,
 * Python and Go with the SDKs.
 */
export function samplesOf(route: string, operation: Operation): Sample[] {
	const commands = operation['x-codeSamples'] ?? [];
	return commands.flatMap((sample) => {
		const label = (language: string) => (commands.length > 1 ? `${sample.label} (${language})` : language);
		const call = parse(route, operation, sample.source);
		// A line of its own for a long URL, because the button to copy covers the end of the first line.
		const source = sample.source.length > 60 ? sample.source.replace(/ ("\$BASE[^"]*")$/, ' \\\n  $1') : sample.source;
		const shell = { ...sample, source, lang: 'bash', label: label('curl') };
		if (!call) {
			return [shell];
		}
		return [
			shell,
			{ lang: 'typescript', label: label('TypeScript'), source: typescript(call) },
			{ lang: 'python', label: label('Python'), source: python(call) },
			{ lang: 'go', label: label('Go'), source: go(call) },
		];
	});
}
