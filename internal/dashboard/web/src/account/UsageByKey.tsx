import type { JSX } from 'preact';
import type { Schemas } from '../api/client';
import { number } from '../format';
import { t } from '../i18n';
import { Select } from '../ui/Field';
import { Table } from '../ui/Table';
import { sumsByKey } from './sums';
import { useNames } from './useNames';

/** KeyFilter selects the key whose calls are shown. */
export function KeyFilter(props: { value: string | undefined; apply: (key: string) => void }): JSX.Element {
	const { ids, nameOf } = useNames();
	const all = new Set([...ids, ...(props.value ? [props.value] : [])]);
	return (
		<Select
			label={t('account.calls.key')}
			value={props.value ?? ''}
			options={[['', t('account.calls.key.all')] as const, ...[...all].map((id) => [id, nameOf(id)] as const)]}
			change={props.apply}
		/>
	);
}

/** UsageByKey shows the calls of each key, from the days of a reply by key. A click on a key selects it. */
export function UsageByKey(props: {
	days: readonly Schemas['UsageDay'][];
	selected: string | undefined;
	select: (key: string) => void;
}): JSX.Element {
	const { nameOf } = useNames();
	return (
		<>
			<h3>{t('account.calls.byKey')}</h3>
			<Table
				caption={t('account.calls.byKey')}
				rows={sumsByKey(props.days)}
				id={(sum) => sum.key}
				columns={[
					{
						name: t('account.calls.key'),
						show: (sum) => (
							<button type="button" class="small by-key" aria-pressed={props.selected === sum.key} onClick={() => props.select(sum.key)}>
								{nameOf(sum.key)}
							</button>
						),
					},
					{ name: t('account.calls.calls'), figure: true, show: (sum) => number(sum.calls) },
					{ name: t('account.calls.failed'), figure: true, show: (sum) => number(sum.failed) },
					{ name: t('account.calls.counted'), figure: true, show: (sum) => number(sum.counted) },
				]}
			/>
			<p class="hint">{t('account.calls.byKey.since')}</p>
		</>
	);
}
