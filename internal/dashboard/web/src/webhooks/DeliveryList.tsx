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
import { ChoiceTabs } from '../ui/Tabs';
import { useFilters } from '../ui/useFilters';
import { DeliveryTable } from './DeliveryTable';
import { answers, type Row, type Wanted } from './deliveryFeed';
import { offeredTypes } from './eventTypes';
import { deliveries, useWebhooks, useWebhookURLs } from './queries';
import { RetryAll, RetryChosen } from './RetryDeliveries';
import { type DeliveryView, useDeliveries, useDeliveryNotices } from './useDeliveries';
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
	const numbers = useCounts(wanted);
	// The chosen tab is no filter in use.
	const { state: _, retried: __, ...others } = filters;
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
			<StateTabs wanted={wanted} counts={numbers} change={filter} />
			<FilterForm values={others} reset={() => filter(Object.fromEntries(Object.keys(others).map((name) => [name, ''])))}>
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
				<button type="button" disabled={numbers?.[failedTab] === 0} onClick={() => setRetrying(true)}>
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

/** tabs are the states of deliveries, with the name of each. */
const tabs: readonly Tab[] = [
	{ name: 'webhooks.tab.waiting', state: 'waiting', retried: undefined },
	{ name: 'webhooks.state.delivered', state: 'delivered', retried: undefined },
	{ name: 'webhooks.tab.failed', state: 'failed', retried: 'false' },
	{ name: 'webhooks.tab.retried', state: 'failed', retried: 'true' },
	{ name: 'webhooks.state.cancelled', state: 'cancelled', retried: undefined },
];

/** failedTab is the tab of what can be retried. */
const failedTab = tabs.findIndex(({ name }) => name === 'webhooks.tab.failed');

/** counted shows the sum of counts, which are undefined until they have arrived. One that is not exact has a plus. */
function counted(counts: readonly number[] | undefined): string {
	if (!counts) {
		return '';
	}
	const exact = counts.every((count) => count <= many);
	const least = number(counts.reduce((sum, count) => sum + Math.min(count, many), 0));
	return ` (${exact ? least : t('webhooks.tab.many', { count: least })})`;
}

/** useCounts counts the deliveries of each tab that match the other filters; many + 1 if there are more than many. */
function useCounts(wanted: Wanted): readonly number[] | undefined {
	const { state: _, retried: __, ...others } = wanted;
	const query = useQuery({
		queryKey: [...counts, others],
		...liveQuery,
		queryFn: ({ signal }) =>
			Promise.all(
				tabs.map(async ({ state, retried }) => {
					const page = await deliveries({ ...others, state, retried }, { limit: many }, signal);
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
	return query.data;
}

function StateTabs(props: {
	wanted: Wanted;
	counts: readonly number[] | undefined;
	change: (changed: { state: string; retried: string }) => void;
}): JSX.Element {
	const { state, retried } = props.wanted;
	const every = { name: 'webhooks.tab.all' as const, state: undefined, retried: undefined };
	const value = [every, ...tabs].find((tab) => tab.state === state && tab.retried === retried)?.name;
	return (
		<ChoiceTabs<Key>
			label={t('webhooks.tabs')}
			value={value}
			options={[
				[every.name, t(every.name) + counted(props.counts)],
				...tabs.map((tab, n) => [tab.name, t(tab.name) + counted(props.counts?.slice(n, n + 1))] as const),
			]}
			change={(name) => {
				const chosen = tabs.find((tab) => tab.name === name);
				props.change({ state: chosen?.state ?? '', retried: chosen?.retried ?? '' });
			}}
		/>
	);
}
