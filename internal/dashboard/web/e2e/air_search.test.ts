import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Schemas } from '../src/api/client';
import { ask, pictured, signedIn } from './browser';

/** typed enters a text into the search by key presses. */
async function typed(page: Page, text: string): Promise<void> {
	await search(page).focus();
	await page.keyboard.type(text);
}

function search(page: Page) {
	return page.getByRole('combobox', { name: 'City or pin code' });
}

function options(page: Page) {
	return page.getByRole('listbox', { name: 'City or pin code' }).getByRole('option');
}

/** opened waits for the page of a place. */
async function opened(page: Page, title: string, path: string): Promise<void> {
	await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
	expect(new URL(page.url()).pathname).toBe(`/dashboard${path}`);
}

const begins = (name: string) => /^ma/i.test(name);

/** line returns the pattern of a suggestion. A city that is found by another name has that name, too. */
function line(name: string, note: string): RegExp {
	return new RegExp(`^${name}${begins(name) ? '' : 'found as M[^·]+ · '}${note}$`);
}

test('suggestions match the API; arrow keys select, Enter opens, Escape closes', async () => {
	const { page, faults } = await signedIn();
	await typed(page, 'ma');
	const reply = await ask<{ data: Schemas['City'][] }>('/v1/cities?q=ma&limit=8');
	// Names that begin with the text come before cities with such another name.
	const data = reply.data.toSorted((a, b) => Number(begins(b.name)) - Number(begins(a.name)));
	await expect
		.poll(() => options(page).allTextContents())
		.toEqual(data.map(({ name, state, aqi, category }) => expect.stringMatching(line(name, `${state} · ${aqi} · ${category}`))));
	expect(data.length).toBeGreaterThan(1);
	expect(await search(page).getAttribute('aria-expanded')).toBe('true');
	await page.getByText(`${data.length} suggestions`).waitFor({ state: 'attached' });
	await pictured(page, 'air-search');

	const marked = async () => {
		const id = await search(page).getAttribute('aria-activedescendant');
		return id ? await page.locator(`[id="${id}"][aria-selected="true"]`).textContent() : '';
	};
	expect(await marked()).toBe('');
	await page.keyboard.press('ArrowDown');
	await expect.poll(marked).toContain(data[0]?.name);
	await page.keyboard.press('ArrowDown');
	await expect.poll(marked).toContain(data[1]?.name);
	await page.keyboard.press('ArrowUp');
	await page.keyboard.press('ArrowUp');
	await expect.poll(marked).toBe('');
	await page.keyboard.press('ArrowUp');
	await expect.poll(marked).toContain(data.at(-1)?.name);
	await page.keyboard.press('Escape');
	await expect.poll(() => search(page).getAttribute('aria-expanded')).toBe('false');
	expect(await search(page).inputValue()).toBe('ma');
	await page.keyboard.press('Escape');
	await expect.poll(() => search(page).inputValue()).toBe('');

	await typed(page, 'ma');
	await expect.poll(() => options(page).count()).toBe(data.length);
	await page.keyboard.press('ArrowDown');
	await expect.poll(marked).not.toBe('');
	await page.keyboard.press('Enter');
	await opened(page, data[0]?.name ?? '', `/air/${data[0]?.name}`);
	expect(faults).toEqual([]);
});

test('a name in Hindi works as a suggestion and as an entered text', async () => {
	const { page } = await signedIn();
	await typed(page, 'दिल');
	await expect.poll(() => options(page).first().textContent()).toContain('Delhi');
	await typed(page, '्ली');
	await page.keyboard.press('Enter');
	await opened(page, 'Delhi', '/air/Delhi');
});

test('a city that has another name now is found as the old one, in both languages', async () => {
	const { page } = await signedIn();
	await typed(page, 'Madras');
	await expect
		.poll(() => options(page).allTextContents())
		.toEqual([expect.stringMatching(/^Chennaifound as Madras · Tamil Nadu · \d+ · /)]);
	await page.getByRole('navigation', { name: 'Main' }).getByLabel('Language').selectOption('hi');
	const hindi = page.getByRole('combobox', { name: 'शहर या पिन कोड' });
	await hindi.fill('');
	await hindi.fill('Madras');
	await page.getByRole('option', { name: 'चेन्नई Madras नाम से मिला' }).waitFor();
});

test('a misspelling opens the city if only one is similar; otherwise the page lists similar names', async () => {
	const { page } = await signedIn();
	await typed(page, 'Bengalooru');
	await page.keyboard.press('Enter');
	await opened(page, 'Bengaluru', '/air/Bengaluru');

	type Refusal = { message: string; error: { suggestions: string[] } };
	const refusal = await ask<Refusal>('/v1/aqi?city=Banglore');
	await typed(page, 'Banglore');
	await page.keyboard.press('Enter');
	await page.getByRole('alert').getByText(refusal.message).waitFor();
	expect(await options(page).allTextContents()).toEqual(refusal.error.suggestions);
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('Enter');
	await opened(page, refusal.error.suggestions[1] ?? '', `/air/${refusal.error.suggestions[1]}`);
});

test('a name that several cities share asks for a choice', async () => {
	const { page, faults } = await signedIn();
	await typed(page, 'Aurangabad');
	await page.keyboard.press('Enter');
	await page.getByRole('alert').getByText('Several cities are called').waitFor();
	await expect
		.poll(() => options(page).allTextContents())
		.toEqual([expect.stringMatching(/^Aurangabad, Bihar\d+ · \w/), expect.stringMatching(/^Aurangabad, Maharashtra\d+ · \w/)]);
	await pictured(page, 'air-homonym');
	await options(page).nth(1).click();
	await opened(page, 'Aurangabad, Maharashtra', '/air/Aurangabad,%20Maharashtra');
	await page.getByText('Stations used').waitFor();

	await page.goto('/dashboard/air/Aurangabad');
	const choices = page.getByRole('list', { name: 'Did you mean' });
	await expect.poll(() => choices.getByRole('link').allTextContents()).toEqual(['Aurangabad, Bihar', 'Aurangabad, Maharashtra']);
	await choices.getByRole('link').first().click();
	await opened(page, 'Aurangabad, Bihar', '/air/Aurangabad,%20Bihar');
	expect(faults).toEqual([]);
});

test('a pin code opens the page of its place; an invalid one is rejected', async () => {
	const { page } = await signedIn();
	await typed(page, '411001');
	await expect.poll(() => options(page).allTextContents()).toEqual(['Pin code 411001']);
	await page.keyboard.press('Enter');
	await opened(page, 'Pin code 411001', '/pin/411001');
	await page.getByText('Stations used').waitFor();
	const refusal = await ask<{ message: string }>('/v1/aqi?pincode=999999');
	await page.goto('/dashboard/pin/999999');
	await page.getByRole('alert').getByText(refusal.message).waitFor();
	await pictured(page, 'air-unknown');
});
