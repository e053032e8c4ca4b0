import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api, type Schemas, unwrap } from '../api/client';
import { t } from '../i18n';
import { SubjectLink } from '../subject';
import { Time } from '../ui/Badge';
import { Dialog } from '../ui/Dialog';
import { Filter } from '../ui/Field';
import { FilterForm } from '../ui/FilterForm';
import { Rows, useList } from '../ui/List';
import { Page } from '../ui/Page';
import { Table } from '../ui/Table';
import { useFilters } from '../ui/useFilters';
import { actionText } from './actions';
import { Export } from './UsageExport';
import './account.css';

type Row = Schemas['AuditRow'];

const names = ['from', 'to', 'subject', 'actor', 'action'] as const;

/** Action shows what an action means, and its name in the API. */
function Action(props: { of: Row }): JSX.Element {
	const { action } = props.of;
	const text = actionText(action);
	return (
		<>
			{text && (
				<>
					{t(text)} <br />
				</>
			)}
			<code class={text ? 'hint' : ''}>{action}</code>
		</>
	);
}

/** Audit lists the audit log of the account in the session's mode (live or sandbox), newest first. */
export function Audit(): JSX.Element {
	const [filters, change] = useFilters(names);
	const [open, setOpen] = useState<Row>();
	const list = useList<Row>(['audit', filters], (cursor, signal) =>
		unwrap(api.GET('/v1/audit', { params: { query: { ...filters, ...(cursor ? { cursor } : {}) } }, signal })),
	);
	return (
		<Page
			title={t('shell.audit')}
			actions={
				<>
					<Export type="text/csv" file="audit.csv" filters={filters} />
					<Export type="application/x-ndjson" file="audit.ndjson" filters={filters} />
				</>
			}
		>
			<p class="hint">{t('account.audit.what')}</p>
			<FilterForm values={filters} reset={() => change({ from: '', to: '', subject: '', actor: '', action: '' })}>
				{names.map((name) => (
					<Filter
						key={name}
						label={t(`account.audit.${name}`)}
						type={name === 'from' || name === 'to' ? 'date' : 'text'}
						value={filters[name]}
						apply={(value) => change({ [name]: value })}
					/>
				))}
			</FilterForm>
			<Rows list={list} empty={t('account.audit.none')}>
				{(rows) => (
					<div class="audit">
						<Table
							caption={t('shell.audit')}
							rows={rows}
							id={(row) => String(row.seq)}
							columns={[
								{ name: t('account.audit.seq'), figure: true, show: (row) => row.seq },
								{ name: t('account.audit.at'), show: (row) => <Time at={row.at} /> },
								{ name: t('account.audit.action'), heading: true, show: (row) => <Action of={row} /> },
								{ name: t('account.audit.subject'), show: (row) => <SubjectLink id={row.subject} /> },
								{ name: t('account.audit.actor'), show: (row) => <code class="id">{row.actor}</code> },
								{ name: t('account.audit.client'), show: (row) => <code>{row.client}</code> },
								{
									name: t('account.audit.detail'),
									show: (row) => (
										<button type="button" class="small" onClick={() => setOpen(row)}>
											{t('account.audit.show')}
										</button>
									),
								},
							]}
						/>
					</div>
				)}
			</Rows>
			{open && (
				<Dialog title={`${t('account.audit.detail')} ${open.seq}: ${open.action}`} close={() => setOpen(undefined)}>
					<pre class="scroll">{JSON.stringify({ ...open.detail, request_id: open.request_id, hash: open.hash }, null, 2)}</pre>
				</Dialog>
			)}
		</Page>
	);
}
