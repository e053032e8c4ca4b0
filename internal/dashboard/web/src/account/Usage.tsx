import { useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { api, type Schemas, unwrap } from '../api/client';
import { day, number, percent } from '../format';
import { t } from '../i18n';
import { Time } from '../ui/Badge';
import { Empty, Fetched } from '../ui/FetchState';
import { Filter } from '../ui/Field';
import { Card, Facts, Page } from '../ui/Page';
import { Table } from '../ui/Table';
import { useFilters } from '../ui/useFilters';
import { useMinute } from '../ui/useNow';
import { Allowed } from './KeyRestrictions';
import { forecast, periodOf, sums } from './sums';
import { UsageByDay } from './UsageByDay';
import { KeyFilter, UsageByKey } from './UsageByKey';
import './account.css';

/** Meter shows the used part of a quota. */
export function Meter(props: { of: Schemas['Quota'] }): JSX.Element {
	const { limit, used, resets_at } = props.of;
	const expected = forecast(props.of, useMinute());
	return (
		<>
			<meter
				class="quota"
				min={0}
				max={limit}
				low={limit * 0.8}
				high={limit * 0.8}
				optimum={0}
				value={Math.min(used, limit)}
				aria-label={t('account.quota')}
			/>
			<p>
				{t('account.quota.used', { used: number(used), limit: number(limit), percent: percent(used, limit) })} {t('account.quota.resets')}{' '}
				<Time at={resets_at} />
			</p>
			{expected !== undefined && (
				<p class={expected > limit ? 'wrong' : 'hint'}>
					{t(expected > limit ? 'account.quota.forecast.over' : 'account.quota.forecast', {
						calls: number(expected),
						percent: percent(expected, limit),
					})}
				</p>
			)}
		</>
	);
}

/** Usage shows the account's plan, its quota of the month, and its calls by operation. */
export function Usage(): JSX.Element {
	const [filters, change] = useFilters(['from', 'to', 'key'] as const);
	const account = useQuery({ queryKey: ['usage', 'account'], queryFn: ({ signal }) => unwrap(api.GET('/v1/account', { signal })) });
	const usage = useQuery({
		queryKey: ['usage', 'days', filters],
		// Fetch both at once, because the service also counts the requests of this page.
		queryFn: async ({ signal }) => {
			const get = (query: object) => unwrap(api.GET('/v1/usage', { params: { query: { ...filters, ...query } }, signal }));
			const [{ days }, byKey] = await Promise.all([get({}), get({ by: 'key' })]);
			return { days, byKey: byKey.days };
		},
	});
	return (
		<Page title={t('shell.usage')}>
			<Card title={t('account.title')} class="account-facts">
				<Fetched query={account}>
					{(account) => (
						<>
							<Facts
								of={[
									[t('account.name'), account.name],
									[t('account.id'), <code key="id">{account.id}</code>],
									[t('account.plan'), account.plan],
									[t('account.since'), <Time key="since" at={account.created_at} />],
								]}
							/>
							<h3>{t('account.quota')}</h3>
							{account.quota ? (
								<Meter of={account.quota} />
							) : (
								<p>{t(account.mode === 'live' ? 'account.quota.none' : 'account.quota.sandbox')}</p>
							)}
							<Allowed of={account} />
						</>
					)}
				</Fetched>
			</Card>
			<Card title={t('account.calls')} class="calls">
				<search class="filters even">
					<Filter label={t('account.audit.from')} type="date" value={filters.from} apply={(from) => change({ from })} />
					<Filter label={t('account.audit.to')} type="date" value={filters.to} apply={(to) => change({ to })} />
					<KeyFilter value={filters.key} apply={(key) => change({ key })} />
				</search>
				<p class="hint">{t('account.calls.utc')}</p>
				<Fetched query={usage}>
					{({ days, byKey }) =>
						days.length === 0 ? (
							<Empty title={t('account.calls.none')} />
						) : (
							<>
								<UsageByDay of={days} {...periodOf(filters, new Date())} />
								<UsageByKey days={byKey} selected={filters.key} select={(key) => change({ key: key === filters.key ? '' : key })} />
								<h3>{t('account.calls.byOperation')}</h3>
								<Table
									caption={t('account.calls.byOperation')}
									rows={sums(days)}
									id={(sum) => sum.operation}
									columns={[
										{ name: t('account.calls.operation'), show: (sum) => <code>{sum.operation}</code> },
										{ name: t('account.calls.calls'), figure: true, show: (sum) => number(sum.calls) },
										{ name: t('account.calls.failed'), figure: true, show: (sum) => number(sum.failed) },
										{ name: t('account.calls.counted'), figure: true, show: (sum) => number(sum.counted) },
									]}
								/>
								<details>
									<summary>{t('account.calls.byDay')}</summary>
									<Table
										caption={t('account.calls.byDay')}
										rows={days}
										id={(of) => of.date + of.operation}
										columns={[
											{ name: t('account.calls.day'), show: (of) => <time dateTime={of.date}>{day(of.date)}</time> },
											{ name: t('account.calls.operation'), show: (of) => <code>{of.operation}</code> },
											{ name: t('account.calls.calls'), figure: true, show: (of) => number(of.calls) },
											{ name: t('account.calls.failed'), figure: true, show: (of) => number(of.failed) },
											{ name: t('account.calls.counted'), figure: true, show: (of) => number(of.counted) },
										]}
									/>
								</details>
							</>
						)
					}
				</Fetched>
			</Card>
		</Page>
	);
}
