import { useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { useCallback, useRef, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { liveQuery } from '../api/liveStream';
import { queries } from '../api/queries';
import { number } from '../format';
import { type Key, t } from '../i18n';
import { hasScope } from '../session';
import { Empty } from '../ui/FetchState';
import { Check, Filter, Select, toggled } from '../ui/Field';
import { FilterForm } from '../ui/FilterForm';
import { Page } from '../ui/Page';
import { useFilters } from '../ui/useFilters';
import { DeliveryTable } from './DeliveryTable';
import { answers, type Row, type Wanted } from './deliveryFeed';
import { offeredTypes } from './eventTypes';
import { deliveries, useWebhooks, useWebhookURLs } from './queries';
import { RetryAll, RetryChosen } from './RetryDeliveries';
import { type DeliveryView, useDeliveries, useDeliveryNotices } from './useDeliveries';
import '../ui/tabs.css';
import './webhooks.css';

const names = ['state', 'retried', 'answer', 'webhook', 'event', 'type', 'from', 'to'] as const;

const counts = ['deliveries', 'counts'];

const states: readonly Row['state'][] = ['waiting', 'delivered', 'failed', 'cancelled'];

/** Deliveries lists the deliveries of the account, and updates itself. */
export function Deliveries(): JSX.Element {
	const [filters, change] = useFilters(names);
	const types = offeredTypes(hasScope('sources:read'));
	const wanted: Wanted = {
		...filters,
		type: types.find((type) => type === filters.type),
		answer: answers.find((answer) => answer === filters.answer),
		state: states.find((state) => state === filters.state),
		retried: filters.retried === 'true' || filters.retried === 'false' ? filters.retried : undefined,
	};
	const [live, setLive] = useState(true);
	const [retrying, setRetrying] = useState(false);
	const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
	const seen = useRef<DeliveryView>({ first: 0, last: 20 });
	const list = useDeliveries(wanted, live, seen);
	const webhooks = useWebhooks();
	const urls = useWebhookURLs();
	const choose = useCallback((ids: readonly string[], on: boolean) => {
		setChosen((old) => toggled(old, ids, on));
	}, []);
	const again = () => {
		list.refetch();
		void queries.refetchQueries({ queryKey: counts });
	};
	const filter = (changed: Partial<Record<(typeof names)[number], string>>) => {
		setChosen(new Set());
		change(changed);
	};
	return (
		<Page title={t('webhooks.deliveries')}>
			<Tabs wanted={wanted} change={filter} />
			<FilterForm values={filters} reset={() => filter(Object.fromEntries(names.map((name) => [name, ''])))}>
				<Select
					label={t('webhooks.answer')}
					value={wanted.answer ?? ''}
					options={[
						['', t('webhooks.filter.any')],
						...answers.map((answer) => [answer, answer === 'none' ? t('webhooks.answer.none') : answer] as const),
					]}
					change={(answer) => filter({ answer })}
				/>
				<Filter label={t('webhooks.filter.event')} placeholder="evt_…" value={wanted.event} apply={(event) => filter({ event })} />
				<Select
					class="wide"
					label={t('webhooks.endpoint')}
					value={wanted.webhook ?? ''}
					options={[
						['', t('webhooks.filter.any')],
						...(webhooks.data ?? []).map((webhook) => [webhook.id, webhook.url] as const),
						...(wanted.webhook && !urls.has(wanted.webhook) ? [[wanted.webhook, wanted.webhook] as const] : []),
					]}
					change={(webhook) => filter({ webhook })}
				/>
				<Select
					class="wide"
					label={t('webhooks.event')}
					value={wanted.type ?? ''}
					options={[['', t('webhooks.filter.any')], ...types.map((type) => [type, type] as const)]}
					change={(type) => filter({ type })}
				/>
				<Filter label={t('webhooks.filter.from')} type="date" value={wanted.from} apply={(from) => filter({ from })} />
				<Filter label={t('webhooks.filter.to')} type="date" value={wanted.to} apply={(to) => filter({ to })} />
			</FilterForm>
			<div class="actions wh-bar">
				<Check checked={live} change={setLive}>
					{t('webhooks.live')}
				</Check>
				{!live && (
					<button type="button" onClick={list.refetch}>
						{t('webhooks.refresh')}
					</button>
				)}
				<RetryChosen
					chosen={chosen}
					done={(over) => {
						choose(over, false);
						again();
					}}
				/>
				<button type="button" onClick={() => setRetrying(true)}>
					{t('webhooks.retry.all')}
				</button>
			</div>
			<p class="wh-unseen" role="status">
				{list.unseen > 0 && (
					<button type="button" class="small" onClick={() => window.scrollTo({ top: 0 })}>
						{t('webhooks.unseen', { count: number(list.unseen) })}
					</button>
				)}
			</p>
			<DeliveryTable
				list={list}
				seen={seen}
				names={urls}
				choice={{ chosen, choose }}
				empty={<Nothing filtered={Object.keys(filters).length > 0} />}
			/>
			{retrying && (
				<RetryAll
					webhooks={webhooks.data ?? []}
					webhook={wanted.webhook}
					from={wanted.from}
					to={wanted.to}
					close={() => {
						setRetrying(false);
						again();
					}}
				/>
			)}
		</Page>
	);
}

function Nothing(props: { filtered: boolean }): JSX.Element {
	return props.filtered ? (
		<Empty title={t('webhooks.deliveries.none.filter')} />
	) : (
		<Empty title={t('webhooks.deliveries.none')}>
			<p>
				<Link href="/webhooks">{t('webhooks.deliveries.none.hint')}</Link>
			</p>
		</Empty>
	);
}

/** many is the maximum number of deliveries that a tab counts. */
const many = 100;

type Tab = Pick<Wanted, 'state' | 'retried'> & { name: Key };

/** tabs are the states of deliveries. The first tab has all of them. */
const tabs: readonly Tab[] = [
	{ name: 'webhooks.state.waiting', state: 'waiting', retried: undefined },
	{ name: 'webhooks.state.delivered', state: 'delivered', retried: undefined },
	{ name: 'webhooks.tab.failed', state: 'failed', retried: 'false' },
	{ name: 'webhooks.tab.retried', state: 'failed', retried: 'true' },
	{ name: 'webhooks.state.cancelled', state: 'cancelled', retried: undefined },
];

/** counted shows a count, which is undefined until it has arrived. */
function counted(count: number | undefined): string {
	return count === undefined ? '' : ` (${count > many ? t('webhooks.tab.many', { count: number(many) }) : number(count)})`;
}

function Tabs(props: { wanted: Wanted; change: (changed: { state: string; retried: string }) => void }): JSX.Element {
	const { state, retried } = props.wanted;
	const query = useQuery({
		queryKey: counts,
		...liveQuery,
		queryFn: ({ signal }) =>
			Promise.all(
				tabs.map(async ({ state, retried }) => {
					const page = await deliveries({ state, retried }, { limit: many }, signal);
					return page.has_more ? many + 1 : page.data.length;
				}),
			),
	});
	// Any notice can mean a retry. If the first attempt of a retry succeeds, its only notice is about a delivered
	// one.
	useDeliveryNotices(
		() => true,
		5000,
		() => void query.refetch(),
	);
	const all = query.data?.reduce((sum, count) => sum + count, 0);
	return (
		<nav class="tabs" aria-label={t('webhooks.tabs')}>
			{[{ name: 'webhooks.tab.all' as const, state: undefined, retried: undefined }, ...tabs].map((tab, n) => (
				<button
					key={tab.name}
					type="button"
					aria-current={state === tab.state && retried === tab.retried ? 'page' : undefined}
					onClick={(event) => {
						event.currentTarget.scrollIntoView({ block: 'nearest', inline: 'nearest' });
						props.change({ state: tab.state ?? '', retried: tab.retried ?? '' });
					}}
				>
					{t(tab.name)}
					{counted(n === 0 ? all : query.data?.[n - 1])}
				</button>
			))}
		</nav>
	);
}
