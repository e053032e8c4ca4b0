import { useMutation } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { api, type Schemas, unwrap } from '../api/client';
import { queries } from '../api/queries';
import { t } from '../i18n';
import { refreshSession, signOut } from '../session';
import { Badge, Time } from '../ui/Badge';
import { Failed } from '../ui/FetchState';
import { Rows, useList } from '../ui/List';
import { Page } from '../ui/Page';
import { Table } from '../ui/Table';

type Session = Schemas['Session'];

/** Sessions lists the browsers that are signed in with the same key, and ends one or all of them. */
export function Sessions(): JSX.Element {
	const list = useList<Session>(['sessions'], (cursor, signal) =>
		unwrap(api.GET('/v1/sessions', { params: { query: cursor ? { cursor } : {} }, signal })),
	);
	const end = useMutation({
		mutationFn: async (session: Session) => {
			await unwrap(api.DELETE('/v1/sessions/{id}', { params: { path: { id: session.id } } }));
			await (session.current ? refreshSession() : queries.invalidateQueries({ queryKey: ['sessions'] }));
		},
	});
	const everywhere = useMutation({ mutationFn: () => signOut(true) });
	const error = end.error ?? everywhere.error;
	return (
		<Page
			title={t('shell.sessions')}
			actions={
				<button type="button" class="danger" disabled={everywhere.isPending} onClick={() => everywhere.mutate()}>
					{t('account.session.everywhere')}
				</button>
			}
		>
			<p class="hint">{t('account.session.what')}</p>
			{error && <Failed error={error} />}
			<Rows list={list} empty={t('account.session.none')}>
				{(rows) => (
					<Table
						caption={t('shell.sessions')}
						rows={rows}
						id={(session) => session.id}
						columns={[
							{
								name: t('account.session.browser'),
								show: (session) => (
									<>
										{session.agent || '–'} {session.current && <Badge tone="good">{t('account.session.this')}</Badge>}
									</>
								),
							},
							{ name: t('account.session.client'), show: (session) => <code>{session.client}</code> },
							{ name: t('account.session.began'), show: (session) => <Time at={session.created_at} /> },
							{ name: t('account.session.ends'), show: (session) => <Time at={session.expires_at} /> },
							{
								name: t('account.key.actions'),
								show: (session) => (
									<button type="button" class="small" disabled={end.isPending} onClick={() => end.mutate(session)}>
										{t('account.session.end')}
									</button>
								),
							},
						]}
					/>
				)}
			</Rows>
		</Page>
	);
}
