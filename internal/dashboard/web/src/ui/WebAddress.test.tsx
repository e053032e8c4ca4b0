import { render } from '@testing-library/preact';
import { expect, test } from 'vitest';
import { shortened, WebAddress } from './WebAddress';

test('a URL can break after its separators, and is whole', () => {
	const url = 'https://shop.example.com/hooks?a=1&b=2';
	const { container } = render(<WebAddress of={url} />);
	expect(container.textContent).toBe(url);
	expect(container.innerHTML.replaceAll('<wbr>', '|').replaceAll('&amp;', '&')).toContain(
		'>https://|shop.|example.|com/|hooks?|a=|1&|b=|2<',
	);
});

test('a long URL keeps its host and its end', () => {
	expect(shortened('https://shop.example.com/vayu')).toBe('shop.example.com/vayu');
	expect(shortened('https://shop.example.com/hooks/vayu/production/events')).toBe('shop.example.com/hooks…/production/events');
});
