import { useQuery } from '@tanstack/preact-query';
import { api, unwrap } from '../api/client';
import { hasScope, sessionState } from '../session';

/** canListMembers reports whether the API lists the people of the account for the key of the session. */
export function canListMembers(): boolean {
	const now = sessionState.value;
	return now.at === 'in' && now.current.mode === 'live' && hasScope('keys:manage');
}

/** useMembers fetches the people of the account, if enabled. */
export function useMembers(enabled = true) {
	return useQuery({ queryKey: ['members'], enabled, queryFn: ({ signal }) => unwrap(api.GET('/v1/members', { signal })) });
}
