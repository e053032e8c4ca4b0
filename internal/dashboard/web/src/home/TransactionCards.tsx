import { useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { Link } from 'wouter-preact';
import { api, unwrap } from '../api/client';
import { range, today } from '../dates';
import { number, rupees } from '../format';
import { t } from '../i18n';
import { Totals } from '../transactions/RechargeList';
import { useBalance } from '../transactions/wallet/useBalance';
import { Fetched } from '../ui/FetchState';
import { Card, Facts } from '../ui/Page';
import { useMinute } from '../ui/useNow';

// One page of the API. More transactions of a day are shown as the newest ones.
const limit = 1000;

/** WalletCard shows the balance of the wallet. */
export function WalletCard(): JSX.Element {
	return (
		<Card title={t('shell.wallet')} actions={<Link href="/wallet">{t('wallet.entries')}</Link>}>
			<Fetched query={useBalance()}>
				{(wallet) => (
					<>
						<p class="amount">{rupees(wallet.available)}</p>
						<Facts
							of={[
								[t('wallet.held'), rupees(wallet.held)],
								[t('wallet.balance'), rupees(wallet.balance)],
							]}
						/>
					</>
				)}
			</Fetched>
		</Card>
	);
}

/** RechargesCard shows the recharges of today with their totals. */
export function RechargesCard(): JSX.Element {
	const from = today(useMinute());
	const query = useQuery({
		queryKey: ['recharges', 'home', from],
		queryFn: ({ signal }) => unwrap(api.GET('/v1/recharge', { params: { query: { ...range({ from }), limit } }, signal })),
	});
	return (
		<Card title={t('home.recharges')} actions={<Link href={`/recharges?from=${from}`}>{t('shell.recharges')}</Link>}>
			<Fetched query={query}>{({ data, has_more }) => <Totals rows={data} more={has_more} />}</Fetched>
		</Card>
	);
}

const states = ['pending', 'success', 'failed'] as const;

/** VerificationsCard shows how many verifications of today have which state. */
export function VerificationsCard(): JSX.Element {
	const from = today(useMinute());
	const query = useQuery({
		queryKey: ['verifications', 'home', from],
		queryFn: ({ signal }) => unwrap(api.GET('/v1/bank/verify', { params: { query: { ...range({ from }), limit } }, signal })),
	});
	return (
		<Card title={t('home.verifications')} actions={<Link href={`/verifications?from=${from}`}>{t('shell.verifications')}</Link>}>
			<Fetched query={query}>
				{({ data, has_more }) => (
					<Facts
						of={[
							[t(has_more ? 'recharge.total.newest' : 'recharge.total.all'), number(data.length)],
							...states.map((state) => {
								const count = data.filter(({ status }) => status === state).length;
								return [t(`verify.filter.${state}`), count > 0 && number(count)] as const;
							}),
						]}
					/>
				)}
			</Fetched>
		</Card>
	);
}
