import { useQuery } from '@tanstack/preact-query';
import { api, unwrap } from '../api/client';
import { t } from '../i18n';
import { canListMembers, useMembers } from './useMembers';

/** Names are the ids of the keys whose names are known, and the names of keys and people. */
export interface Names {
	ids: readonly string[];
	/** nameOf returns the name of a key of the session's mode. */
	nameOf: (id: string) => string;
	/** known returns the name of a key or a person; undefined for other ids, and for keys of the other mode. */
	known: (id: string) => string | undefined;
}

/**
 * useNames fetches the names of keys: name and end of the text of the newest 1,000 keys, and the addresses of people. The
 * list of keys has no keys of people. So another key is that of a person whose address the session cannot read, or who
 * was removed.
 */
export function useNames(): Names {
	const keys = useQuery({
		queryKey: ['keys', 'names'],
		queryFn: ({ signal }) => unwrap(api.GET('/v1/keys', { params: { query: { limit: 1000 } }, signal })),
	});
	const readable = canListMembers();
	const members = useMembers(readable);
	const people = members.data?.data ?? [];
	const names = new Map([
		...(keys.data?.data ?? []).map((key) => [key.id, `${key.name} …${key.last_four}`] as const),
		...people.map((member) => [member.key_ids.live, member.email] as const),
	]);
	const complete = keys.data && !keys.data.has_more && !(readable && members.isPending);
	return {
		ids: [...names.keys()],
		nameOf: (id) => names.get(id) ?? (complete ? t('account.calls.person', { end: id.slice(-4) }) : id),
		known: (id) => names.get(id) ?? people.find((member) => member.id === id || member.key_ids.sandbox === id)?.email,
	};
}
