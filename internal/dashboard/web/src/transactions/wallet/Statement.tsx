import { useInfiniteQuery, useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { range } from '../../dates';
import { number, rupees } from '../../format';
import { t } from '../../i18n';
import { SubjectLink } from '../../subject';
import { Time } from '../../ui/Badge';
import { errorMessage } from '../../ui/FetchState';
import { Filter } from '../../ui/Field';
import { Form } from '../../ui/Form';
import { Rows } from '../../ui/List';
import { Facts } from '../../ui/Page';
import { saveFile } from '../../ui/saveFile';
import { Table } from '../../ui/Table';
import { useFilters } from '../../ui/useFilters';
import { useNarrow } from '../../ui/useNarrow';
import { Filters } from '../TransactionFilters';
import { signed } from '../timeline/Timeline';
import {
	type Balance,
	type Beginning,
	balanced,
	before,
	beginningOf,
	csvOf,
	entriesOf,
	isSubject,
	type Line,
	type Selection,
	subjectOf,
	type Totals,
} from './statement';

/** useLines fetches the pages of a statement. It remembers the balance at which each page begins. */
function useLines(selection: Selection) {
	const balances = useRef(new Map<string, Balance | undefined>()).current;
	return useInfiniteQuery({
		queryKey: ['wallet', 'entries', selection],
		initialPageParam: undefined as string | undefined,
		queryFn: async ({ pageParam, signal }) => {
			const { page, closing, totals }: Beginning = pageParam
				? { page: await entriesOf(selection, pageParam, 50, signal), closing: balances.get(pageParam) }
				: await beginningOf(selection, 50, signal);
			if (page.next_cursor) {
				balances.set(page.next_cursor, closing && before(closing, page.data));
			}
			return { ...page, totals, data: balanced(closing, page.data) };
		},
		getNextPageParam: (last) => last.next_cursor ?? undefined,
	});
}

/** Statement lists the entries of the wallet with the balance after each. */
export function Statement(): JSX.Element {
	const [filters, change] = useFilters(['from', 'to', 'subject']);
	const selection = {
		...(filters.subject && isSubject(filters.subject) && { subject: filters.subject }),
		...range(filters),
	};
	const list = useLines(selection);
	const lines = list.data?.pages.flatMap((page) => page.data) ?? [];
	const totals = list.data?.pages[0]?.totals;
	const narrow = useNarrow();
	return (
		<>
			<Filters
				dates
				values={filters}
				change={change}
				find={<SubjectSearch value={filters.subject} apply={(subject) => change({ subject })} />}
			/>
			<Ends lines={lines} totals={totals} />
			<Rows list={list} empty={t('wallet.none')} hint={<p>{t('wallet.none.hint')}</p>}>
				{(rows) => (
					<div class="statement flow">
						<Table
							compact
							caption={t('wallet.entries')}
							rows={rows}
							id={({ entry }) => `${entry.subject} ${entry.kind}`}
							columns={[
								{ name: t('transactions.when'), phone: 'line', show: ({ entry }) => <Time at={entry.at} /> },
								{
									name: t('wallet.kind'),
									heading: true,
									show: ({ entry }) => (
										<span class="kind">{t(narrow ? `wallet.kind.short.${entry.kind}` : `wallet.kind.${entry.kind}`)}</span>
									),
								},
								{ name: t('wallet.change'), figure: true, phone: 'top', show: ({ entry }) => <Change of={entry} /> },
								{
									name: t('wallet.available.after'),
									figure: true,
									phone: 'labelled',
									show: ({ after }) => (after ? rupees(after.available) : '–'),
								},
								{
									name: t('wallet.held.after'),
									figure: true,
									phone: 'labelled end',
									show: ({ after }) => (after ? rupees(after.held) : '–'),
								},
								{ name: t('wallet.about'), phone: 'line', show: ({ entry }) => <SubjectLink id={entry.subject} /> },
							]}
						/>
						{totals && (
							<p class="hint" role="status">
								{t(totals.complete ? 'wallet.shown' : 'wallet.shown.more', { count: number(rows.length), all: number(totals.count) })}
							</p>
						)}
					</div>
				)}
			</Rows>
			{lines.length > 0 && <Save selection={selection} />}
		</>
	);
}

/** SubjectSearch selects the entries of one recharge or payment, by its id or the client's reference. */
export function SubjectSearch(props: { value: string | undefined; apply: (subject: string) => void }): JSX.Element {
	const { value, apply } = props;
	const [text, setText] = useState('');
	const found = useQuery({
		queryKey: ['wallet', 'subject', text],
		queryFn: async () => (await subjectOf(text)) ?? null,
		enabled: text !== '',
	});
	const subject = found.data;
	useEffect(() => {
		if (subject) {
			setText('');
			apply(subject);
		}
	}, [subject]);
	const none = subject === null ? t('wallet.search.none', { text }) : t('wallet.search.hint');
	return (
		<div role="status">
			<Filter
				label={t('verify.search')}
				hint={found.error ? errorMessage(found.error) : none}
				type="search"
				value={text || value}
				maxLength={255}
				apply={(typed) => {
					setText(typed);
					if (typed === '') {
						apply('');
					}
				}}
			/>
		</div>
	);
}

/** Change shows which balances an entry changes, and how. A credit is bold, so that colour is not the only difference. */
function Change(props: { of: Pick<Line['entry'], 'available' | 'held'> }): JSX.Element {
	return (
		<>
			{(['available', 'held'] as const).map((balance) => {
				const amount = props.of[balance];
				return (
					amount !== 0 && (
						<span key={balance} class={balance === 'available' && amount > 0 ? 'change credit' : 'change'}>
							{signed(amount)} <span class="hint">{t(`wallet.change.${balance}`)}</span>
						</span>
					)
				);
			})}
		</>
	);
}

/** Ends shows the balance at the end and at the beginning of the period. All entries between make the difference. */
function Ends(props: { lines: readonly Line[]; totals: Totals | undefined }): JSX.Element | null {
	const { lines, totals } = props;
	const newest = lines[0]?.after;
	if (!newest) {
		return null;
	}
	const total = (of: Balance) => rupees(of.available + of.held);
	return (
		<div class="totals ends">
			<Facts
				of={[
					[t('wallet.opening'), totals?.opening && total(totals.opening)],
					[t('wallet.closing'), total(newest)],
					[t('wallet.entries.count'), totals?.complete && number(totals.count)],
				]}
			/>
		</div>
	);
}

/** Save saves the whole statement as a table for a spreadsheet. */
function Save(props: { selection: Selection }): JSX.Element {
	const [count, setCount] = useState<number>();
	const save = async () => {
		const { signal } = new AbortController();
		setCount(0);
		try {
			const { page: first, closing } = await beginningOf(props.selection, 1000, signal);
			const all = [...first.data];
			for (let page = first; page.next_cursor; ) {
				page = await entriesOf(props.selection, page.next_cursor, 1000, signal);
				all.push(...page.data);
				setCount(all.length);
			}
			saveFile(new Blob([csvOf(balanced(closing, all))], { type: 'text/csv' }), 'wallet.csv');
		} finally {
			setCount(undefined);
		}
	};
	return (
		<Form submit={save} button={t('wallet.save')}>
			<span role="status">{count ? t('batch.download.so', { count: number(count) }) : ''}</span>
		</Form>
	);
}
