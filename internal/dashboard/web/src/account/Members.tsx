import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api, rethrowWith, type Schemas, unwrap } from '../api/client';
import { invalidate } from '../api/queries';
import { t } from '../i18n';
import { hasScope, refreshSession, sessionState } from '../session';
import { Badge, Time } from '../ui/Badge';
import { Dialog } from '../ui/Dialog';
import { Empty, Fetched } from '../ui/FetchState';
import { EmailField, Radios } from '../ui/Field';
import { Form } from '../ui/Form';
import { Page } from '../ui/Page';
import { Table } from '../ui/Table';
import { SwitchMode } from './ModeSwitch';
import { useMembers } from './useMembers';
import './account.css';

type Member = Schemas['Member'];
type Role = Schemas['MemberRole'];

/** roles are the roles of people, the one with most rights first. */
const roles: readonly Role[] = ['owner', 'developer', 'finance', 'viewer'];

/** The dialog that is open, and the person that it is about. */
type Doing = { what: 'add' } | { what: 'role' | 'remove'; member: Member };

/** RoleText names a role and says what it permits. */
function RoleText(props: { of: Role }): JSX.Element {
	return (
		<span class="member-role">
			<strong>{t(`account.member.${props.of}`)}</strong>
			<span>{t(`account.member.${props.of}.what`)}</span>
		</span>
	);
}

function Roles(props: { value: Role; change: (role: Role) => void }): JSX.Element {
	return (
		<Radios
			label={t('account.member.role')}
			value={props.value}
			change={props.change}
			options={roles.map((role) => [role, <RoleText key={role} of={role} />])}
		/>
	);
}

function AddMember(props: { close: () => void }): JSX.Element {
	const [email, setEmail] = useState('');
	const [role, setRole] = useState<Role>('viewer');
	const add = async (idempotencyKey: (body: unknown) => string) => {
		const body = { email: email.trim(), role };
		const reply = unwrap(api.POST('/v1/members', { body, params: { header: { 'Idempotency-Key': idempotencyKey(body) } } }));
		await reply.catch(rethrowWith({ email: t('account.member.email.wrong') }));
		invalidate('members');
		props.close();
	};
	return (
		<Dialog title={t('account.member.add')} close={props.close}>
			<Form submit={add} button={t('account.member.add')} tone="primary" cancel={props.close}>
				<EmailField label={t('account.member.email')} hint={t('account.member.email.hint')} value={email} change={setEmail} />
				<Roles value={role} change={setRole} />
			</Form>
		</Dialog>
	);
}

function ChangeRole(props: { of: Member; close: () => void }): JSX.Element {
	const [role, setRole] = useState(props.of.role);
	const change = async () => {
		await unwrap(api.PATCH('/v1/members/{id}', { params: { path: { id: props.of.id } }, body: { role } }));
		invalidate('members');
		props.close();
		await refreshSession(); // it may be the role of this session
	};
	return (
		<Dialog title={t('account.member.role.change', { email: props.of.email })} close={props.close}>
			<Form submit={change} button={t('action.save')} tone="primary" cancel={props.close}>
				<Roles value={role} change={setRole} />
			</Form>
		</Dialog>
	);
}

function RemoveMember(props: { of: Member; own: boolean; close: () => void }): JSX.Element {
	const remove = async () => {
		await unwrap(api.DELETE('/v1/members/{id}', { params: { path: { id: props.of.id } } }));
		invalidate('members');
		props.close();
		if (props.own) {
			await refreshSession();
		}
	};
	return (
		<Dialog title={t('account.member.remove.title', { email: props.of.email })} close={props.close}>
			<Form submit={remove} button={t('account.member.remove')} tone="danger" cancel={props.close}>
				<p>{t(props.own ? 'account.member.remove.own' : 'account.member.remove.what')}</p>
			</Form>
		</Dialog>
	);
}

/** Members shows the people of the account. In the sandbox, the API refuses the list, and Members shows a note. */
export function Members(): JSX.Element {
	const now = sessionState.value;
	if (now.at === 'in' && now.current.mode === 'live') {
		return <MemberList />;
	}
	return (
		<Page title={t('shell.members')}>
			<p>{t('account.member.sandbox')}</p>
			{now.at === 'in' && <SwitchMode of={now.current} />}
		</Page>
	);
}

/** MemberList lists the people of the account, and adds, changes and removes them. */
function MemberList(): JSX.Element {
	const [doing, setDoing] = useState<Doing>();
	const list = useMembers();
	const close = () => setDoing(undefined);
	const now = sessionState.value;
	const manages = hasScope('keys:manage');
	const isOwn = (member: Member) => now.at === 'in' && now.current.member?.id === member.id;
	return (
		<Page
			title={t('shell.members')}
			actions={
				manages && (
					<button type="button" class="primary" onClick={() => setDoing({ what: 'add' })}>
						{t('account.member.add')}
					</button>
				)
			}
		>
			<p>{t('account.member.what')}</p>
			<Fetched query={list}>
				{({ data }) =>
					data.length === 0 ? (
						<Empty title={t('account.member.none')}>
							<p class="hint">{t('account.member.none.hint')}</p>
						</Empty>
					) : (
						<div class="members">
							<Table
								compact
								caption={t('shell.members')}
								rows={data}
								id={(member) => member.id}
								columns={[
									{
										name: t('account.member.email'),
										show: (member) => (
											<>
												<strong class="member-mail">{member.email}</strong>{' '}
												{isOwn(member) && <Badge tone="busy">{t('account.member.you')}</Badge>}
											</>
										),
									},
									{ name: t('account.member.role'), phone: 'line', show: (member) => <RoleText of={member.role} /> },
									{ name: t('account.member.since'), phone: 'labelled', show: (member) => <Time at={member.created_at} /> },
									{
										name: t('account.member.last'),
										phone: 'labelled',
										show: (member) =>
											member.last_sign_in_at ? <Time at={member.last_sign_in_at} relative="past" /> : t('account.member.never'),
									},
									{
										name: t('account.key.actions'),
										phone: 'line',
										show: (member) => (
											<span class="row-actions">
												<button type="button" class="small" onClick={() => setDoing({ what: 'role', member })}>
													{t('account.member.change')}
													<span class="unseen"> {member.email}</span>
												</button>
												<button type="button" class="small" onClick={() => setDoing({ what: 'remove', member })}>
													{t('account.member.remove')}
													<span class="unseen"> {member.email}</span>
												</button>
											</span>
										),
									},
								]}
							/>
						</div>
					)
				}
			</Fetched>
			{doing?.what === 'add' && <AddMember close={close} />}
			{doing?.what === 'role' && <ChangeRole of={doing.member} close={close} />}
			{doing?.what === 'remove' && <RemoveMember of={doing.member} own={isOwn(doing.member)} close={close} />}
		</Page>
	);
}
