import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api, type Schemas, unwrap } from '../api/client';
import { invalidate } from '../api/queries';
import { t } from '../i18n';
import { hasScope, sessionState } from '../session';
import { Badge, Time } from '../ui/Badge';
import { Rows, useList } from '../ui/List';
import { Page } from '../ui/Page';
import { type Column, Table } from '../ui/Table';
import { MakeKey } from './MakeKey';
import { NewKeySecret } from './NewKeySecret';
import { RevokeKey } from './RevokeKey';
import { RotateKey } from './RotateKey';
import { roleOf } from './roles';
import { scopes } from './scopes';
import './account.css';

type Key = Schemas['Key'];

/** The dialog that is open, and the key that it is about. */
type Doing = { what: 'make' } | { what: 'rotate' | 'revoke'; key: Key } | { what: 'shown'; made: Schemas['KeyMade'] };

/** State shows whether a key is active, and when it expires, has expired or was revoked. */
function State(props: { of: Key }): JSX.Element {
	const { active, revoked_at: revoked, expires_at: expires } = props.of;
	const [tone, name] = revoked ? (['bad', 'revoked'] as const) : active ? (['good', 'active'] as const) : (['quiet', 'expired'] as const);
	const at = revoked ?? expires;
	return (
		<>
			<Badge tone={tone}>{t(`account.key.${name}`)}</Badge>
			{at && (
				<p class="hint">
					{active && t('account.key.expires')} <Time at={at} />
				</p>
			)}
		</>
	);
}

function Name(props: { of: Key }): JSX.Element {
	const now = sessionState.value;
	return (
		<>
			<strong>{props.of.name}</strong>{' '}
			{now.at === 'in' && now.current.key.id === props.of.id && <Badge tone="busy">{t('account.key.this')}</Badge>}
			<br />
			<code>
				{props.of.prefix}…{props.of.last_four}
			</code>
		</>
	);
}

/** Scopes shows what a key may do: its role, if it has the scopes of one, and the meaning of each scope. */
function Scopes(props: { of: Key }): JSX.Element {
	const role = roleOf(props.of.scopes);
	return (
		<details class="key-scopes">
			<summary>{role ? t(`account.role.${role}`) : t('account.role.count', { count: props.of.scopes.length })}</summary>
			<ul>
				{scopes
					.filter(([scope]) => props.of.scopes.includes(scope))
					.map(([scope, text]) => (
						<li key={scope}>
							<code>{scope}</code> {t(text)}
						</li>
					))}
			</ul>
		</details>
	);
}

/** Networks lists networks, one on each line. */
function Networks(props: { of: readonly string[] }): JSX.Element {
	return (
		<>
			{props.of.map((network) => (
				<code key={network} class="network">
					{network}
				</code>
			))}
		</>
	);
}

/** Keys lists the account's keys of the session's mode (live or sandbox), and creates, rotates and revokes them. */
export function Keys(): JSX.Element {
	const [doing, setDoing] = useState<Doing>();
	const list = useList<Key>(['keys'], (cursor, signal) =>
		unwrap(api.GET('/v1/keys', { params: { query: cursor ? { cursor } : {} }, signal })),
	);
	const close = () => setDoing(undefined);
	const made = (key: Schemas['KeyMade']) => {
		invalidate('keys');
		setDoing({ what: 'shown', made: key });
	};
	const revoked = () => {
		invalidate('keys');
		close();
	};
	const manages = hasScope('keys:manage');
	const actions: Column<Key> = {
		name: t('account.key.actions'),
		phone: 'line',
		show: (key) =>
			key.active && (
				<span class="row-actions">
					<button type="button" class="small" onClick={() => setDoing({ what: 'rotate', key })}>
						{t('account.key.rotate')}
						<span class="unseen"> {key.name}</span>
					</button>
					<button type="button" class="small" onClick={() => setDoing({ what: 'revoke', key })}>
						{t('account.key.revoke')}
						<span class="unseen"> {key.name}</span>
					</button>
				</span>
			),
	};
	return (
		<Page
			title={t('shell.keys')}
			actions={
				manages && (
					<button type="button" class="primary" onClick={() => setDoing({ what: 'make' })}>
						{t('account.key.make')}
					</button>
				)
			}
		>
			{!manages && <p class="note">{t('account.key.read')}</p>}
			<Rows list={list} empty={t('account.key.none')}>
				{(rows) => (
					<div class="keys">
						<Table
							compact
							caption={t('shell.keys')}
							rows={rows}
							id={(key) => key.id}
							columns={[
								{ name: t('account.key.name'), show: (key) => <Name of={key} /> },
								{ name: t('account.key.state'), show: (key) => <State of={key} /> },
								{ name: t('account.key.scopes'), show: (key) => <Scopes of={key} /> },
								{
									name: t('account.key.from'),
									phone: 'labelled',
									show: (key) => (key.allow_list.length > 0 ? <Networks of={key.allow_list} /> : t('account.key.anywhere')),
								},
								{ name: t('account.key.used'), phone: 'labelled', show: (key) => <Time at={key.last_used_at} relative="past" /> },
								{ name: t('account.key.created'), phone: 'labelled', show: (key) => <Time at={key.created_at} /> },
								...(manages ? [actions] : []),
							]}
						/>
					</div>
				)}
			</Rows>
			{doing?.what === 'make' && <MakeKey close={close} made={made} />}
			{doing?.what === 'rotate' && <RotateKey of={doing.key} close={close} made={made} />}
			{doing?.what === 'revoke' && <RevokeKey of={doing.key} close={close} revoked={revoked} />}
			{doing?.what === 'shown' && <NewKeySecret made={doing.made} close={close} />}
		</Page>
	);
}
