import { type UseQueryResult, useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { api, unwrap } from '../../api/client';
import { t } from '../../i18n';
import { errorMessage } from '../../ui/FetchState';
import { useSettled } from '../../ui/useSettled';

type Found = { operator: string; circle: string; detection: { source: 'lookup' | 'series'; confidence: 'high' | 'low' } };

/** pause is the time without input after which the API is called, in milliseconds. */
const pause = 400;

/** useDetected looks up the operator of a complete number after the input stops. */
export function useDetected(digits: string | undefined): UseQueryResult<Found, Error> {
	const settled = useSettled(digits, pause);
	const number = settled === digits ? settled : undefined;
	return useQuery({
		queryKey: ['detect', number],
		enabled: number !== undefined,
		staleTime: 60_000,
		queryFn: ({ signal }) => unwrap(api.GET('/v1/operators/detect', { params: { query: { mobile: number ?? '' } }, signal })),
	});
}

/** Detected shows the detected operator of the typed number. */
export function Detected(props: { query: UseQueryResult<Found, Error> }): JSX.Element {
	const { data, error } = props.query;
	return (
		<p class="hint" role="status">
			{data
				? t('recharge.detected', {
						operator: data.circle ? `${data.operator}, ${data.circle}` : data.operator,
						source: t(`recharge.detection.${data.detection.source}`),
					})
				: error
					? errorMessage(error)
					: ''}
		</p>
	);
}
