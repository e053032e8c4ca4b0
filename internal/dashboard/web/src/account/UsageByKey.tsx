import { useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { api, type Schemas, unwrap } from '../api/client';
import { number } from '../format';
import { t } from '../i18n';
import { Select } from '../ui/Field';
import { Table } from '../ui/Table';
import { sumsByKey } from './sums';
import { canListMembers, useMembers } from './useMembers';

/** Names are the ids of the keys whose names are known, and the name of each key. */
interface Names {
	ids: readonly string[];
	nameOf: (id: string) => string;
}

/**
 * useNames fetches the names of keys: name and end of the text of the newest 1,000 keys, and the addresses of people. The
 * list of keys has no keys of people. So another key is that of a person whose address the session cannot read, or who
 * was removed.
 */
function useNames(): Names {
	const keys = useQuery({
		queryKey: ['keys', 'names'],
		queryFn: ({ signal }) => unwrap(api.GET('/v1/keys', { params: { query: { limit: 1000 } }, signal })),
	});
	const readable = canListMembers();
	const members = useMembers(readable);
	const names = new Map([
		...(keys.data?.data ?? []).map((key) => [key.id, `${key.name} …${key.last_four}`] as const),
		...(members.data?.data ?? []).map((member) => [member.key_ids.live, member.email] as const),
	]);
	const complete = keys.data && !keys.data.has_more && !(readable && members.isPending);
	return {
		ids: [...names.keys()],
		nameOf: (id) => names.get(id) ?? (complete ? t('account.calls.person', { end: id.slice(-4) }) : id),
	};
}

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
			<Table
				caption={t('account.calls.byKey')}
				rows={sumsByKey(props.days)}
				id={(sum) => sum.key}
				columns={[
					{
						name: t('account.calls.key'),
						show: (sum) => (
							<button type="button" class="small" aria-pressed={props.selected === sum.key} onClick={() => props.select(sum.key)}>
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
