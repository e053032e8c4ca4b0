import { useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { Link } from 'wouter-preact';
import { api, unwrap } from '../api/client';
import { range, today } from '../dates';
import { rupees } from '../format';
import { t } from '../i18n';
import { withTotals } from '../transactions/keptTotals';
import { Totals } from '../transactions/RechargeList';
import { VerificationTotals } from '../transactions/VerificationList';
import { useBalance } from '../transactions/wallet/useBalance';
import { Fetched } from '../ui/FetchState';
import { Card, Facts } from '../ui/Page';
import { useMinute } from '../ui/useNow';

// The totals are those of all transactions of a day, so that one row of them suffices.
const query = (from: string, totals: boolean) => ({ ...range({ from }), limit: 1, ...(totals && { totals }) });

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
	const totals = useQuery({
		queryKey: ['recharges', 'home', from],
		queryFn: ({ signal }) =>
			withTotals(['recharges', 'home', from], (totals) =>
				unwrap(api.GET('/v1/recharge', { params: { query: query(from, totals) }, signal })),
			),
	});
	return (
		<Card title={t('home.recharges')} actions={<Link href={`/recharges?from=${from}`}>{t('shell.recharges')}</Link>}>
			<Fetched query={totals}>{({ totals }) => <Totals of={totals} />}</Fetched>
		</Card>
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
		<Card title={t('home.verifications')} actions={<Link href={`/verifications?from=${from}`}>{t('shell.verifications')}</Link>}>
			<Fetched query={totals}>{({ totals }) => <VerificationTotals of={totals} />}</Fetched>
		</Card>
	);
}
