import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api, type Schemas, unwrap } from '../api/client';
import { t } from '../i18n';
import { SubjectLink } from '../subject';
import { Time } from '../ui/Badge';
import { Dialog } from '../ui/Dialog';
import { Filter, Select } from '../ui/Field';
import { FilterForm } from '../ui/FilterForm';
import { Rows, useList } from '../ui/List';
import { Facts, Page } from '../ui/Page';
import { Table } from '../ui/Table';
import { useFilters } from '../ui/useFilters';
import { actionGroups, actionText } from './actions';
import { Export } from './UsageExport';
import { type Names, useNames } from './useNames';
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
					{t(text)} <br class="wide-only" />
				</>
			)}
			<code class={text ? 'hint wide-only' : ''}>{action}</code>
		</>
	);
}

/** actorName names an actor: a key, a person, or a part outside the API; undefined for any other actor. */
function actorName(id: string, { known }: Names): string | undefined {
	return id === 'command' || id === 'bank' || id === 'operator' || id === 'signup' ? t(`account.audit.${id}`) : known(id);
}

/** Actor shows the name of an actor, or its id. */
function Actor(props: { id: string; names: Names }): JSX.Element {
	const name = actorName(props.id, props.names);
	return name ? <span title={props.id}>{name}</span> : <code class="id">{props.id}</code>;
}

/** Subject shows the name of a key or a person, or the id of another object. */
function Subject(props: { id: string; names: Names }): JSX.Element {
	const name = props.names.known(props.id);
	return name ? <span title={props.id}>{name}</span> : <SubjectLink id={props.id} />;
}

/** Detail shows a row with all its ids, and its details as JSON. */
function Detail(props: { of: Row; names: Names; close: () => void }): JSX.Element {
	const { seq, action, at, subject, actor, client, detail, request_id, hash } = props.of;
	const text = actionText(action);
	const withId = (name: string | undefined, id: string) => (
		<>
			{name && `${name} `}
			<code>{id}</code>
		</>
	);
	return (
		<Dialog title={`${t('account.audit.detail')} ${seq}: ${text ? t(text) : action}`} close={props.close}>
			<div class="aligned">
				<Facts
					of={[
						[t('account.audit.action'), <code key="action">{action}</code>],
						[t('account.audit.at'), <Time key="at" at={at} exact />],
						[t('account.audit.subject'), withId(props.names.known(subject), subject)],
						[t('account.audit.actor'), withId(actorName(actor, props.names), actor)],
						[t('account.audit.client'), client],
					]}
				/>
			</div>
			<pre class="scroll">{JSON.stringify({ ...detail, request_id, hash }, null, 2)}</pre>
		</Dialog>
	);
}

/** AuditFilters select rows by day, subject, actor and kind of action. Any value in the address becomes an option. */
function AuditFilters(props: {
	of: Partial<Record<(typeof names)[number], string>>;
	change: (change: Partial<Record<(typeof names)[number], string>>) => void;
	names: Names;
}): JSX.Element {
	const { of, change } = props;
	const actors = new Set(['command', ...props.names.ids, ...(of.actor ? [of.actor] : [])]);
	const groups = actionGroups.map(([prefix, text]) => [prefix as string, t(text)] as const);
	const exact = of.action ? actionText(of.action) : undefined;
	const other = of.action && !groups.some(([prefix]) => prefix === of.action) ? [[of.action, exact ? t(exact) : of.action] as const] : [];
	const all = ['', t('account.audit.all')] as const;
	return (
		<FilterForm values={of} reset={() => change({ from: '', to: '', subject: '', actor: '', action: '' })}>
			<Filter label={t('account.audit.from')} type="date" value={of.from} apply={(from) => change({ from })} />
			<Filter label={t('account.audit.to')} type="date" value={of.to} apply={(to) => change({ to })} />
			<Select
				label={t('account.audit.action')}
				value={of.action ?? ''}
				options={[all, ...groups, ...other]}
				change={(action) => change({ action })}
			/>
			<Select
				label={t('account.audit.actor')}
				value={of.actor ?? ''}
				options={[all, ...[...actors].map((id) => [id, actorName(id, props.names) ?? id] as const)]}
				change={(actor) => change({ actor })}
			/>
			<Filter
				label={t('account.audit.subject')}
				placeholder={t('account.audit.subject.example')}
				value={of.subject}
				apply={(subject) => change({ subject })}
			/>
		</FilterForm>
	);
}

/** Audit lists the audit log of the account in the session's mode (live or sandbox), newest first. */
export function Audit(): JSX.Element {
	const [filters, change] = useFilters(names);
	const [open, setOpen] = useState<Row>();
	const known = useNames();
	const list = useList<Row>(['audit', filters], (cursor, signal) =>
		unwrap(api.GET('/v1/audit', { params: { query: { ...filters, ...(cursor ? { cursor } : {}) } }, signal })),
	);
	return (
		<Page
			title={t('shell.audit')}
			actions={
				<div class="actions exports">
					<Export type="text/csv" file="audit.csv" filters={filters} />
					<Export type="application/x-ndjson" file="audit.ndjson" filters={filters} />
				</div>
			}
		>
			<p class="hint">{t('account.audit.what')}</p>
			<AuditFilters of={filters} change={change} names={known} />
			<Rows list={list} empty={t('account.audit.none')}>
				{(rows) => (
					<div class="audit">
						<Table
							compact
							caption={t('shell.audit')}
							rows={rows}
							id={(row) => String(row.seq)}
							columns={[
								{ name: t('account.audit.seq'), figure: true, phone: 'labelled', show: (row) => row.seq },
								{ name: t('account.audit.at'), show: (row) => <Time at={row.at} /> },
								{ name: t('account.audit.action'), heading: true, show: (row) => <Action of={row} /> },
								{ name: t('account.audit.subject'), phone: 'labelled line', show: (row) => <Subject id={row.subject} names={known} /> },
								{ name: t('account.audit.actor'), phone: 'labelled', show: (row) => <Actor id={row.actor} names={known} /> },
								{ name: t('account.audit.client'), show: (row) => row.client && <code>{row.client}</code> },
								{
									name: t('account.audit.detail'),
									show: (row) => (
										<span class="row-actions">
											<button type="button" class="small" onClick={() => setOpen(row)}>
												{t('account.audit.show')}
											</button>
										</span>
									),
								},
							]}
						/>
					</div>
				)}
			</Rows>
			{open && <Detail of={open} names={known} close={() => setOpen(undefined)} />}
		</Page>
	);
}
