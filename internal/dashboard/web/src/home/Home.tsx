import type { JSX } from 'preact';
import { t } from '../i18n';
import { hasScope } from '../session';
import { Empty } from '../ui/FetchState';
import { Page } from '../ui/Page';
import { AirCard } from './AirCard';
import { AlertsCard, QuotaCard, WebhooksCard } from './ServiceCards';
import { RechargesCard, VerificationsCard, WalletCard } from './TransactionCards';
import './home.css';

const cards = [
	['aqi:read', AirCard],
	['recharge:read', WalletCard],
	['recharge:read', RechargesCard],
	['verify:read', VerificationsCard],
	['webhooks:manage', WebhooksCard],
	['alerts:manage', AlertsCard],
	['account:read', QuotaCard],
] as const;

/** Home shows one card for each thing that the key may read. It sends no request that the API would reject. */
export function Home(): JSX.Element {
	const allowed = cards.filter(([scope]) => hasScope(scope));
	return (
		<Page title={t('home.title')}>
			{allowed.length === 0 && <Empty title={t('home.none')} />}
			<div class="home">
				{allowed.map(([, Card], index) => (
					<Card key={index} />
				))}
			</div>
		</Page>
	);
}
