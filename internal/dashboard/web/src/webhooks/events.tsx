import type { JSX } from 'preact';
import { Link } from 'wouter-preact';
import { api, ok, type Schemas } from '../api/client';
import { t } from '../i18n';
import { useFilters } from '../ui/address';
import { Field, Select } from '../ui/form';
import { Rows, useList } from '../ui/list';
import { Page } from '../ui/page';
import { Time } from '../ui/parts';
import { Table } from '../ui/table';
import { range } from './calls';
import { Subject } from './delivery';
import { type EventType, everyType } from './kinds';
import './webhooks.css';

type Happened = Schemas['Event'];

/** Events is what has happened, the oldest first, as the API lists it. */
export function Events(): JSX.Element {
	const [filters, change] = useFilters(['type', 'subject', 'from', 'to']);
	const type = everyType.find((one) => one === filters.type);
	const list = useList<Happened>(['events', 'list', filters], async (cursor, signal) => {
		const query = {
			...range(filters),
			...(type ? { type } : {}),
			...(filters.subject ? { subject: filters.subject } : {}),
			...(cursor ? { cursor } : {}),
			limit: 100,
		};
		return ok(api.GET('/v1/events', { params: { query }, signal }));
	});
	return (
		<Page title={t('webhooks.event.all')} actions={<Link href="/deliveries">{t('webhooks.deliveries')}</Link>}>
			<p class="hint">{t('webhooks.event.about')}</p>
			<form class="filters wh-filters" onSubmit={(event) => event.preventDefault()}>
				<Select
					label={t('webhooks.event')}
					value={type ?? ''}
					options={[['', t('webhooks.filter.any')], ...everyType.map((one) => [one, one] as const)]}
					onChange={(value) => change({ type: value as EventType | '' })}
				/>
				<Field
					label={t('webhooks.event.subject')}
					placeholder="txn_…"
					autoComplete="off"
					spellcheck={false}
					value={filters.subject ?? ''}
					onChange={(event) => change({ subject: event.currentTarget.value.trim() })}
				/>
				<Field
					label={t('webhooks.filter.from')}
					type="date"
					value={filters.from ?? ''}
					onChange={(event) => change({ from: event.currentTarget.value })}
				/>
				<Field
					label={t('webhooks.filter.to')}
					type="date"
					value={filters.to ?? ''}
					onChange={(event) => change({ to: event.currentTarget.value })}
				/>
			</form>
			<Rows list={list} empty={t('webhooks.event.none')} hint={<p>{t('webhooks.event.none.hint')}</p>}>
				{(rows) => (
					<Table
						caption={t('webhooks.event.all')}
						rows={rows}
						id={(row) => row.id}
						columns={[
							{ name: t('webhooks.event'), show: (row) => <Link href={`/events/${row.id}`}>{row.type}</Link> },
							{ name: t('webhooks.event.subject'), show: (row) => <Subject data={row.data} /> },
							{ name: t('webhooks.event.when'), show: (row) => <Time at={new Date(row.created * 1000).toISOString()} /> },
							{ name: t('webhooks.id'), show: (row) => <code>{row.id}</code> },
						]}
					/>
				)}
			</Rows>
		</Page>
	);
}
