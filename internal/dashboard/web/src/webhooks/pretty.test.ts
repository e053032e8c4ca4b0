import { expect, test } from 'vitest';
import { pretty } from './pretty';

test('JSON is indented, and its tokens stay', () => {
	expect(pretty('{"a":10.00,"b":[1,{"c":"x:,{}\\" "}],"d":{},"e":[]}')).toBe(
		'{\n  "a": 10.00,\n  "b": [\n    1,\n    {\n      "c": "x:,{}\\" "\n    }\n  ],\n  "d": {},\n  "e": []\n}',
	);
});

test('invalid JSON causes no error', () => {
	expect(pretty('}}]"')).toBe('\n}\n}\n]"');
	expect(pretty('')).toBe('');
});
