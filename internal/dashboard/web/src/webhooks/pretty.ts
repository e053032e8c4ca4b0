/** pretty indents JSON without changing its tokens: 10.00 does not become 10, and large numbers are not rounded. */
export function pretty(json: string): string {
	let out = '';
	let depth = 0;
	const line = () => `\n${'  '.repeat(depth)}`;
	for (const [token] of json.matchAll(/"(?:\\.|[^"\\])*"?|[[\]{}]|,|:|[^\s"[\]{},:]+/g)) {
		if (token === '{' || token === '[') {
			depth++;
			out += token + line();
		} else if (token === '}' || token === ']') {
			depth = Math.max(0, depth - 1);
			out = /[[{]\s*$/.test(out) ? out.trimEnd() + token : out + line() + token;
		} else if (token === ',') {
			out += token + line();
		} else {
			out += token === ':' ? ': ' : token;
		}
	}
	return out;
}
