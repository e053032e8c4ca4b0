import { useQuery } from '@tanstack/preact-query';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Problem, problemOf, type Schemas, unwrap, withKey } from '../api/client';
import { t } from '../i18n';
import { Alone } from '../Shell';
import { CopyableText, Time } from '../ui/Badge';
import { Fetched } from '../ui/FetchState';
import { Check, Field } from '../ui/Field';
import { Form } from '../ui/Form';

/** SignUp is the page on which a person makes an account, or the one that the link in the mail opens. */
export function SignUp(props: { confirms: boolean }): JSX.Element {
	const title = t(props.confirms ? 'signup.confirm.title' : 'signup.title');
	useEffect(() => {
		document.title = `${title} · Vayu`;
	}, [title]);
	return (
		<Alone title={title}>
			{props.confirms ? <Confirmation /> : <Request />}
			<p>
				<a href="/dashboard/">{t('signup.signin')}</a>
			</p>
		</Alone>
	);
}

/** Result replaces a form after its success. It gets the focus for screen readers. A key in it is shown once. */
function Result(props: { value?: string; children: ComponentChildren }): JSX.Element {
	const element = useRef<HTMLDivElement>(null);
	useEffect(() => element.current?.focus(), []);
	return (
		<div ref={element} class="result" tabIndex={-1}>
			{props.value && (
				<>
					<p class="note">{t('account.shown.once')}</p>
					<p>
						<CopyableText value={props.value} />
					</p>
				</>
			)}
			{props.children}
		</div>
	);
}

function Request(): JSX.Element {
	const mode = useQuery({ queryKey: ['signup'], queryFn: ({ signal }) => unwrap(withKey.GET('/v1/signup', { signal })) });
	const [email, setEmail] = useState('');
	const [invite, setInvite] = useState('');
	const [made, setMade] = useState<Schemas['SignedUp']>();
	if (made) {
		return (
			<Result value={made.key}>
				<p>{t('signup.sent', { email: email.trim() })}</p>
				<p>
					{t('signup.ends')} <Time at={made.expires_at} />
				</p>
			</Result>
		);
	}
	const submit = async () => {
		const body = { email: email.trim(), ...(invite ? { invite: invite.trim() } : {}) };
		setMade(await unwrap(withKey.POST('/v1/signup', { body })).catch(refused));
	};
	return (
		<Fetched query={mode}>
			{({ mode }) =>
				mode === 'off' ? (
					<p>{t('signup.off')}</p>
				) : (
					<Form submit={submit} button={t('signup.submit')} tone="primary">
						<Field
							label={t('signup.email')}
							hint={t('signup.email.hint')}
							name="email"
							type="email"
							autocomplete="email"
							required
							maxLength={254}
							value={email}
							change={setEmail}
						/>
						{mode === 'invite' && <Field label={t('signup.invite')} name="invite" required value={invite} change={setInvite} />}
					</Form>
				)
			}
		</Fetched>
	);
}

/** refused rethrows an error, with a text of the page at the field that the API names. */
function refused(error: unknown): never {
	const problem = problemOf(error);
	if (problem.field === 'email' || problem.field === 'invite') {
		throw Problem.atField(problem.field, t(`signup.wrong.${problem.field}`));
	}
	throw problem;
}

/** Confirmation confirms the address when its button is pressed. Programs that only open the link of a mail confirm nothing. */
function Confirmation(): JSX.Element {
	const [done, setDone] = useState<Schemas['SignupConfirmed']>();
	const [member, setMember] = useState(false);
	if (done?.key) {
		return (
			<Result value={done.key}>
				<p>{t('signup.confirmed')}</p>
			</Result>
		);
	}
	if (done) {
		return (
			<Result>
				<p>{t(done.outcome === 'address_in_use' ? 'signup.known' : 'signup.repeated')}</p>
			</Result>
		);
	}
	const confirm = async () => {
		const reply = withKey.POST('/v1/signup/confirm', { body: { token: window.location.hash.slice(1), member } });
		setDone(
			await unwrap(reply).catch((error: unknown) => {
				const problem = problemOf(error);
				throw problem.field === 'token'
					? new Problem(problem.status, { error: { code: problem.code, message: t('signup.wrong.token') } })
					: problem;
			}),
		);
	};
	return (
		<Form submit={confirm} button={t('signup.confirm')} tone="primary">
			<p>{t('signup.confirm.what')}</p>
			<Check checked={member} change={setMember}>
				{t('signup.confirm.member')}
			</Check>
		</Form>
	);
}
