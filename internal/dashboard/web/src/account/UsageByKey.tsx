import type { JSX } from 'preact';
import type { Schemas } from '../api/client';
import { t } from '../i18n';
import { Select } from '../ui/Field';
import { difference, type Sum, sumsByKey, totalOf } from './sums';
import { UsageTable } from './UsageTable';
import { useNames } from './useNames';

/** KeyFilter selects the key or the person whose calls are shown. */
export function KeyFilter(props: { value: string | undefined; apply: (key: string) => void }): JSX.Element {
	const { ids, nameOf } = useNames();
	const all = new Set([...ids, ...(props.value ? [props.value] : [])]);
	return (
		<Select
			label={t('account.calls.who')}
			value={props.value ?? ''}
			options={[['', t('account.calls.who.all')] as const, ...[...all].map((id) => [id, nameOf(id)] as const)]}
			change={props.apply}
		/>
	);
}

/**
 * UsageByKey shows the calls of each key, from the days of a reply by key. A click on a key selects it. all is the sum of
 * the calls, of which a last row has those that no key is known of.
 */
export function UsageByKey(props: {
	days: readonly Schemas['UsageDay'][];
	all: Sum;
	selected: string | undefined;
	select: (key: string) => void;
}): JSX.Element {
	const { nameOf } = useNames();
	const rest = difference(props.all, totalOf(props.days));
	return (
		<>
			<h3>{t('account.calls.byKey')}</h3>
			<UsageTable
				caption={t('account.calls.byKey')}
				column={t('account.calls.who')}
				rows={[
					...sumsByKey(props.days).map(({ key, ...sum }) => ({
						...sum,
						id: key,
						name: (
							<button type="button" class="small by-key" aria-pressed={props.selected === key} onClick={() => props.select(key)}>
								{nameOf(key)}
							</button>
						),
					})),
					...(rest.calls > 0 ? [{ ...rest, id: 'rest', name: t('account.calls.rest') }] : []),
				]}
				total={props.all}
			/>
			{rest.calls > 0 && <p class="hint">{t('account.calls.rest.why')}</p>}
		</>
	);
}
