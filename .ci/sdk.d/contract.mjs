// Prints the contract as one JSON document, for generators that read one file:
//
//   node contract.mjs schema/openapi.yaml
//
// Objects are open in it, because later versions can add fields.
import { bundle, createConfig } from '@redocly/openapi-core';

const { bundle: document, problems } = await bundle({ ref: process.argv[2], config: await createConfig({}) });
if (problems.length > 0) throw new Error(JSON.stringify(problems[0]));
const closed = new Set(['additionalProperties', 'unevaluatedProperties']);
process.stdout.write(JSON.stringify(document.parsed, (name, value) => (closed.has(name) && value === false ? undefined : value)));
