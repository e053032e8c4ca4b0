import { useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { api, unwrap } from '../api/client';
import { range, today } from '../dates';
import { number, rupees } from '../format';
import { t } from '../i18n';
import { withTotals } from '../transactions/keptTotals';
import { useBalance } from '../transactions/wallet/useBalance';
import { Fetched } from '../ui/FetchState';
import { useMinute } from '../ui/useNow';
import { Figure, HomeCard } from './HomeCard';

// The totals cover all transactions of a day, so the request asks for one row only.
const query = (from: string, totals: boolean) => ({ ...range({ from }), limit: 1, ...(totals && { totals }) });

/** WalletCard shows the balance of the wallet. */
export function WalletCard(): JSX.Element {
	return (
		<HomeCard title={t('shell.wallet')} to="/wallet" link={t('wallet.entries')}>
			<Fetched query={useBalance()}>
				{({ available, held, balance }) => (
					<Figure value={rupees(available)} unit={t('home.wallet.available')}>
						{t('home.wallet', { held: rupees(held), balance: rupees(balance) })}
					</Figure>
				)}
			</Fetched>
		</HomeCard>
	);
}

/** successful returns the totals of the successful transactions. */
function successful<T extends { status: string }>(states: readonly T[]): T | undefined {
	return states.find(({ status }) => status === 'success');
}

/** RechargesCard shows the amount of today's successful recharges, and how many recharges have which state. */
export function RechargesCard(): JSX.Element {
	const from = today(useMinute());
	const totals = useQuery({
		queryKey: ['recharges', 'home', from],
		queryFn: ({ signal }) =>
			withTotals(['recharges', 'home', from], (totals) =>
				unwrap(api.GET('/v1/recharge', { params: { query: query(from, totals) }, signal })),
			),
	});
	return (
		<HomeCard title={t('home.recharges')} to={`/recharges?from=${from}`} link={t('shell.recharges')}>
			<Fetched query={totals}>
				{({ totals }) =>
					totals &&
					(totals.count === 0 ? (
						<Figure value={t('home.today.none')} />
					) : (
						<Figure value={rupees(successful(totals.states)?.amount ?? 0)} unit={t('home.recharges.done')}>
							<States of={totals} name={(state) => t(`recharge.state.${state}`)} />
						</Figure>
					))
				}
			</Fetched>
		</HomeCard>
	);
}

/** VerificationsCard shows how many verifications of today have which state. */
export function VerificationsCard(): JSX.Element {
	const from = today(useMinute());
	const totals = useQuery({
		queryKey: ['verifications', 'home', from],
		queryFn: ({ signal }) =>
			withTotals(['verifications', 'home', from], (totals) =>
				unwrap(api.GET('/v1/bank/verify', { params: { query: query(from, totals) }, signal })),
			),
	});
	return (
		<HomeCard title={t('home.verifications')} to={`/verifications?from=${from}`} link={t('shell.verifications')}>
			<Fetched query={totals}>
				{({ totals }) =>
					totals &&
					(totals.count === 0 ? (
						<Figure value={t('home.today.none')} />
					) : (
						<Figure
							value={t('home.verifications.done', { count: number(successful(totals.states)?.count ?? 0), all: number(totals.count) })}
						>
							<States
								of={{ ...totals, states: totals.states.filter(({ status }) => status !== 'success') }}
								name={(state) => t(`verify.filter.${state}`)}
							/>
						</Figure>
					))
				}
			</Fetched>
		</HomeCard>
	);
}

/** States shows how many transactions of a day have which state, and whether the totals are those of the newest only. */
function States<S extends string>(props: {
	of: { complete: boolean; states: readonly { status: S; count: number }[] };
	name: (state: S) => string;
}): JSX.Element {
	const { complete, states } = props.of;
	const counts = states.map(({ status, count }) => `${props.name(status)}: ${number(count)}`);
	return <>{[...(complete ? [] : [t('recharge.total.newest')]), ...counts].join(', ')}</>;
}
