import { useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { api, type Schemas, unwrap } from '../api/client';
import { day, number, percent } from '../format';
import { t } from '../i18n';
import { CopyableText, Time } from '../ui/Badge';
import { Empty, Fetched } from '../ui/FetchState';
import { Filter } from '../ui/Field';
import { Card, Facts, Page } from '../ui/Page';
import { useFilters } from '../ui/useFilters';
import { useMinute } from '../ui/useNow';
import { Allowed } from './KeyRestrictions';
import { byDay, forecast, periodOf, sums, totalOf, withoutKey } from './sums';
import { UsageByDay } from './UsageByDay';
import { KeyFilter, UsageByKey } from './UsageByKey';
import { isSandbox, UsageTable } from './UsageTable';
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
		queryFn: async ({ signal }) => {
			const get = (query: object) => unwrap(api.GET('/v1/usage', { params: { query: { ...filters, ...query } }, signal }));
			// The second reply also has the calls since the first, such as the page's own.
			const { days } = await get({});
			const byKey = await get({ by: 'key' });
			return { days: [...byKey.days, ...withoutKey(days, byKey.days)], byKey: byKey.days };
		},
	});
	const period = periodOf(filters, new Date());
	return (
		<Page title={t('shell.usage')}>
			<Card title={t('account.title')} class="account-facts">
				<Fetched query={account}>
					{(account) => (
						<>
							<Facts
								of={[
									[t('account.name'), account.name],
									[t('account.id'), <CopyableText key="id" value={account.id} />],
									[t('account.plan'), account.plan],
									[t('account.since'), <Time key="since" at={account.created_at} />],
								]}
							/>
							{account.mode === 'live' && (
								<>
									<h3>{t('account.quota')}</h3>
									{account.quota ? <Meter of={account.quota} /> : <p>{t('account.quota.none')}</p>}
								</>
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
				<p class="hint">{t(isSandbox() ? 'account.calls.utc.sandbox' : 'account.calls.utc')}</p>
				{!isSandbox() && <p class="hint">{t('account.calls.free')}</p>}
				<Fetched query={usage}>
					{({ days, byKey }) =>
						days.length === 0 ? (
							<Empty title={t('account.calls.none')} />
						) : (
							<>
								<UsageByDay of={days} {...period} />
								<UsageByKey
									days={byKey}
									all={totalOf(days)}
									selected={filters.key}
									select={(key) => change({ key: key === filters.key ? '' : key })}
								/>
								<h3>{t('account.calls.byOperation')}</h3>
								<UsageTable
									caption={t('account.calls.byOperation')}
									column={t('account.calls.operation')}
									rows={sums(days).map(({ operation, ...sum }) => ({ ...sum, id: operation, name: <code>{operation}</code> }))}
									total={totalOf(days)}
								/>
								<details>
									<summary>{t('account.calls.byDay')}</summary>
									<UsageTable
										caption={t('account.calls.byDay')}
										column={t('account.calls.day')}
										rows={byDay(days, period.from, period.to)
											.filter(({ calls }) => calls > 0)
											.map(({ date, ...sum }) => ({ ...sum, id: date, name: <time dateTime={date}>{day(date)}</time> }))}
										total={totalOf(days)}
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
