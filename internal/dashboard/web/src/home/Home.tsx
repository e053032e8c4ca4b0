import type { JSX } from 'preact';
import { t } from '../i18n';
import { hasScope } from '../session';
import { Empty } from '../ui/FetchState';
import { Page } from '../ui/Page';
import { AirCard } from './AirCard';
import { AlertsCard, QuotaCard, WebhooksCard } from './ServiceCards';
import { RechargesCard, VerificationsCard, WalletCard } from './TransactionCards';
import './home.css';

// Each group is a row of cards of one height. Figures are short, and stand two by two on a phone. Lists have rows below their
// figure.
const rows = [
	[
		'home tiles',
		[
			['recharge:read', WalletCard],
			['recharge:read', RechargesCard],
			['verify:read', VerificationsCard],
			['account:read', QuotaCard],
		],
	],
	['home', [['aqi:read', AirCard]]],
	[
		'home',
		[
			['webhooks:manage', WebhooksCard],
			['alerts:manage', AlertsCard],
		],
	],
] as const;

/** Home shows one card for each thing that the key may read. It sends no request that the API would reject. */
export function Home(): JSX.Element {
	const groups = rows
		.map(([name, cards]) => ({ name, cards: cards.filter(([scope]) => hasScope(scope)) }))
		.filter(({ cards }) => cards.length > 0);
	return (
		<Page title={t('home.title')}>
			{groups.length === 0 && <Empty title={t('home.none')} />}
			{groups.map(({ name, cards }) => (
				<div class={name} key={cards[0]?.[0]}>
					{cards.map(([, Card], index) => (
						<Card key={index} />
					))}
				</div>
			))}
		</Page>
	);
}
