import { useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { api, type Schemas, unwrap } from '../api/client';
import { number } from '../format';
import { t } from '../i18n';
import { Fetched } from '../ui/FetchState';
import { Select } from '../ui/Field';
import { Table } from '../ui/Table';
import { sumsByKey } from './sums';

/** useKeys returns the newest 1,000 keys of the account; none until they are fetched. */
function useKeys(): readonly Schemas['Key'][] {
	const keys = useQuery({
		queryKey: ['keys', 'names'],
		queryFn: ({ signal }) => unwrap(api.GET('/v1/keys', { params: { query: { limit: 1000 } }, signal })),
	});
	return keys.data?.data ?? [];
}

/** nameOf returns the name of a key and the end of its text; the id of an unknown key. */
function nameOf(keys: readonly Schemas['Key'][], id: string): string {
	const key = keys.find((key) => key.id === id);
	return key ? `${key.name} …${key.last_four}` : id;
}

/** KeyFilter selects the key whose calls are shown. */
export function KeyFilter(props: { value: string | undefined; apply: (key: string) => void }): JSX.Element {
	const keys = useKeys();
	const ids = new Set([...keys.map((key) => key.id), ...(props.value ? [props.value] : [])]);
	return (
		<Select
			label={t('account.calls.key')}
			value={props.value ?? ''}
			options={[['', t('account.calls.key.all')] as const, ...[...ids].map((id) => [id, nameOf(keys, id)] as const)]}
			change={props.apply}
		/>
	);
}

/** UsageByKey shows the calls of each key in a period. A click on a key selects it. */
export function UsageByKey(props: { filters: { from?: string; to?: string; key?: string }; select: (key: string) => void }): JSX.Element {
	const { filters, select } = props;
	const keys = useKeys();
	const usage = useQuery({
		queryKey: ['usage', 'keys', filters],
		queryFn: ({ signal }) => unwrap(api.GET('/v1/usage', { params: { query: { ...filters, by: 'key' } }, signal })),
	});
	return (
		<Fetched query={usage}>
			{({ days }) => (
				<>
					<Table
						caption={t('account.calls.byKey')}
						rows={sumsByKey(days)}
						id={(sum) => sum.key}
						columns={[
							{
								name: t('account.calls.key'),
								show: (sum) => (
									<button type="button" aria-pressed={filters.key === sum.key} onClick={() => select(sum.key)}>
										{nameOf(keys, sum.key)}
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
			)}
		</Fetched>
	);
}
