import { type UseQueryResult, useQuery } from '@tanstack/preact-query';
import { api, type Schemas, unwrap } from '../../api/client';

/** useBalance fetches the balance of the wallet. */
export function useBalance(enabled = true): UseQueryResult<Schemas['Wallet'], Error> {
	return useQuery({ queryKey: ['wallet', 'balance'], enabled, queryFn: ({ signal }) => unwrap(api.GET('/v1/wallet', { signal })) });
}
