import type { JSX } from 'preact';
import { api, type Schemas, unwrap } from '../api/client';
import { queries } from '../api/queries';
import { t } from '../i18n';
import { refreshSession, signOut } from '../session';
import { Badge, Time } from '../ui/Badge';
import { Form } from '../ui/Form';
import { Rows, useList } from '../ui/List';
import { Page } from '../ui/Page';
import { Table } from '../ui/Table';
import { browserName } from './agent';
import './account.css';

type Session = Schemas['Session'];

/** Moment shows a time, and how long it is before or after now. */
function Moment(props: { at: string }): JSX.Element {
	return (
		<>
			<Time at={props.at} relative />
			<p class="hint wide-only">
				<Time at={props.at} />
			</p>
		</>
	);
}

/** Sessions lists the browser sessions of the same key, and ends one or all of them. */
export function Sessions(): JSX.Element {
	const list = useList<Session>(['sessions'], (cursor, signal) =>
		unwrap(api.GET('/v1/sessions', { params: { query: cursor ? { cursor } : {} }, signal })),
	);
	const end = async (session: Session) => {
		await unwrap(api.DELETE('/v1/sessions/{id}', { params: { path: { id: session.id } } }));
		await (session.current ? refreshSession() : queries.invalidateQueries({ queryKey: ['sessions'] }));
	};
	return (
		<Page
			title={t('shell.sessions')}
			actions={<Form submit={() => signOut(true)} button={t('account.session.everywhere')} tone="danger" />}
		>
			<p>{t('account.session.what')}</p>
			<Rows list={list} empty={t('account.session.none')}>
				{(rows) => (
					<Table
						compact
						caption={t('shell.sessions')}
						rows={[...rows].sort((a, b) => Number(b.current) - Number(a.current))}
						id={(session) => session.id}
						columns={[
							{
								name: t('account.session.browser'),
								show: (session) => (
									<>
										<strong title={session.agent}>{browserName(session.agent) || '–'}</strong>{' '}
										{session.current && <Badge tone="busy">{t('account.session.this')}</Badge>}
									</>
								),
							},
							{ name: t('account.session.began'), phone: 'labelled', show: (session) => <Moment at={session.created_at} /> },
							{ name: t('account.session.ends'), phone: 'labelled', show: (session) => <Moment at={session.expires_at} /> },
							{ name: t('account.session.client'), show: (session) => <code>{session.client}</code> },
							{
								name: t('account.key.actions'),
								show: (session) => (
									<div class="row-actions">
										<Form submit={() => end(session)} button={t('account.session.end')} tone="small" />
									</div>
								),
							},
						]}
					/>
				)}
			</Rows>
		</Page>
	);
}
