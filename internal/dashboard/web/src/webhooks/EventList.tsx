import type { JSX } from 'preact';
import { Link } from 'wouter-preact';
import { api, type Schemas, unwrap } from '../api/client';
import { range } from '../dates';
import { t } from '../i18n';
import { hasScope } from '../session';
import { Time } from '../ui/Badge';
import { Filter, Select } from '../ui/Field';
import { FilterForm } from '../ui/FilterForm';
import { Rows, useList } from '../ui/List';
import { Page } from '../ui/Page';
import { Table } from '../ui/Table';
import { useFilters } from '../ui/useFilters';
import { Subject } from './DeliveryDetail';
import { type EventType, offeredTypes } from './eventTypes';
import './webhooks.css';

type Happened = Schemas['Event'];

/** Events lists the events of the account, newest first. */
export function Events(): JSX.Element {
	const [filters, change] = useFilters(['type', 'subject', 'from', 'to']);
	const types = offeredTypes(hasScope('sources:read'));
	const type = types.find((one) => one === filters.type);
	const list = useList<Happened>(['events', 'list', filters], async (cursor, signal) => {
		const query = {
			...range(filters),
			...(type ? { type } : {}),
			...(filters.subject ? { subject: filters.subject } : {}),
			...(cursor ? { cursor } : {}),
			limit: 100,
			order: 'newest' as const,
		};
		return unwrap(api.GET('/v1/events', { params: { query }, signal }));
	});
	return (
		<Page title={t('webhooks.event.all')} actions={<Link href="/event-types">{t('webhooks.types')}</Link>}>
			<p class="hint">{t('webhooks.event.about')}</p>
			<FilterForm values={filters} reset={() => change({ type: '', subject: '', from: '', to: '' })}>
				<Select
					class="wide"
					label={t('webhooks.event')}
					value={type ?? ''}
					options={[['', t('webhooks.filter.any')], ...types.map((one) => [one, one] as const)]}
					change={(value) => change({ type: value as EventType | '' })}
				/>
				<Filter label={t('webhooks.event.subject')} placeholder="txn_…" value={filters.subject} apply={(subject) => change({ subject })} />
				<Filter label={t('webhooks.filter.from')} type="date" value={filters.from} apply={(from) => change({ from })} />
				<Filter label={t('webhooks.filter.to')} type="date" value={filters.to} apply={(to) => change({ to })} />
			</FilterForm>
			<Rows list={list} empty={t('webhooks.event.none')} hint={<p>{t('webhooks.event.none.hint')}</p>}>
				{(rows) => (
					<Table
						compact
						caption={t('webhooks.event.all')}
						rows={rows}
						id={(row) => row.id}
						columns={[
							{ name: t('webhooks.event'), show: (row) => <Link href={`/events/${row.id}`}>{row.type}</Link> },
							{ name: t('webhooks.event.subject'), show: (row) => <Subject data={row.data} /> },
							{ name: t('webhooks.event.when'), show: (row) => <Time at={new Date(row.created * 1000).toISOString()} exact /> },
							{ name: t('webhooks.id'), show: (row) => <code>{row.id}</code> },
						]}
					/>
				)}
			</Rows>
		</Page>
	);
}
