import { readFileSync } from 'node:fs';
import types from 'virtual:event-types';
import { expect, test } from 'vitest';
import { bands } from '../air/category';
import { fieldsOf } from '../webhooks/catalogue';
import { en } from './en';
import { account } from './en/account';
import { air } from './en/air';
import { alerts } from './en/alerts';
import { shell } from './en/shell';
import { transactions } from './en/transactions';
import { webhooks } from './en/webhooks';
import { cities, hi, meanings, states } from './hi';

type Texts = Record<'en' | 'hi', string>;

const root = '../../../../..';
const advice = JSON.parse(readFileSync(`${import.meta.dirname}/${root}/schema/advice/advice.json`, 'utf8')) as {
	groups: { group: string; name: Texts }[];
	advice: { category: string; name: Texts; statement: Texts; general: Texts; groups: Record<string, Texts> }[];
};

const placeholders = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(([name]) => name).sort();

test('each text in Hindi has the placeholders of the English one', () => {
	const differing = (Object.keys(en) as (keyof typeof en)[]).filter((key) => placeholders(en[key]).join() !== placeholders(hi[key]).join());
	expect(differing).toEqual([]);
});

test.each(bands)('$word has the name that the advice of the API has', ({ word, name }) => {
	const of = advice.advice.find(({ category }) => category === word)?.name;
	expect({ en: en[name], hi: hi[name] }).toEqual(of);
});

test('each state of the gazetteer has its first name in Hindi there', () => {
	const lines = readFileSync(`${import.meta.dirname}/${root}/schema/gazetteer/state_names.csv`, 'utf8').split('\n');
	const named = lines.filter((line) => line !== '' && !line.startsWith('#')).map((line) => line.split(','));
	expect(Object.entries(states)).toEqual(named.map(([name, , names]) => [name, names?.split('|')[0]]));
});

const cityLines = readFileSync(`${import.meta.dirname}/${root}/schema/gazetteer/cities.csv`, 'utf8')
	.split('\n')
	.filter((line) => line !== '' && !line.startsWith('#'))
	.map((line) => line.split(','));

test('each city of the gazetteer has its first name in Devanagari there', () => {
	const shared = (name: string | undefined) => cityLines.filter(([other]) => other === name).length > 1;
	const named = cityLines.map(([name, state, names]) => [
		shared(name) ? `${name}, ${state}` : name,
		names?.split('|').find((one) => /^[\u0900-\u097f ()-]+$/u.test(one)),
	]);
	expect(Object.entries(cities)).toEqual(named);
});

test('docs/hindi has the names of cities', async () => {
	const rows = cityLines.map(([name, state], i) => [state ?? '', { en: name ?? '', hi: Object.values(cities)[i] ?? '' }] as const);
	await expect(page('names of cities', rows)).toMatchFileSnapshot(`${root}/docs/hindi/cities.md`);
});

/** page returns a page of docs/hindi: a table of texts in both languages. */
function page(title: string, rows: readonly (readonly [key: string, texts: Texts])[]): string {
	const cell = (text: string) => text.replaceAll('|', '\\|');
	return [
		`# Hindi texts: ${title}`,
		'',
		'[README](README.md) says how to review this page.',
		'',
		'| name | English | Hindi |',
		'|---|---|---|',
		...rows.map(([key, texts]) => `| \`${key}\` | ${cell(texts.en)} | ${cell(texts.hi)} |`),
		'',
	].join('\n');
}

// vitest --update writes these pages.
test.each(Object.entries({ account, air, alerts, shell, transactions, webhooks }))(
	'docs/hindi has the texts of the catalog %s',
	async (name, texts) => {
		const rows = Object.keys(texts).map((key) => [key, { en: en[key as keyof typeof en], hi: hi[key as keyof typeof hi] }] as const);
		await expect(page(name, rows)).toMatchFileSnapshot(`${root}/docs/hindi/${name}.md`);
	},
);

const described = types.flatMap(({ data }) => fieldsOf(data)).flatMap(({ description }) => description || []);

test('the meaning of each field of events has a text in Hindi', () => {
	expect(Object.keys(meanings).sort()).toEqual([...new Set(described)].sort());
});

test('docs/hindi has the meanings of fields', async () => {
	const rows = Object.entries(meanings).map(([meaning, text], n) => [String(n + 1), { en: meaning, hi: text }] as const);
	await expect(page('meanings of fields', rows)).toMatchFileSnapshot(`${root}/docs/hindi/meanings.md`);
});

test('docs/hindi has the texts of the advice', async () => {
	const rows = [
		...advice.groups.map(({ group, name }) => [group, name] as const),
		...advice.advice.flatMap(({ category, name, statement, general, groups }) => [
			[category, name] as const,
			[`${category}: statement`, statement] as const,
			[`${category}: general`, general] as const,
			...Object.entries(groups).map(([group, text]) => [`${category}: ${group}`, text] as const),
		]),
	];
	await expect(page('advice', rows)).toMatchFileSnapshot(`${root}/docs/hindi/advice.md`);
});
