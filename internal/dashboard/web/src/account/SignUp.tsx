import { useQuery } from '@tanstack/preact-query';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { navigate } from 'wouter-preact/use-browser-location';
import { rethrowWith, type Schemas, unlessRefused, unwrap, withKey } from '../api/client';
import { t } from '../i18n';
import { signUpPath } from '../routes';
import { Alone } from '../Shell';
import { signIn } from '../session';
import { Time } from '../ui/Badge';
import { Fetched } from '../ui/FetchState';
import { Check, EmailField, Field } from '../ui/Field';
import { Form } from '../ui/Form';
import { SecretBox } from './SecretBox';
import './account.css';
import '../signin.css';

/** SignUp is the page on which a person makes an account, or the one that the link in the mail opens. */
export function SignUp(props: { confirms: boolean }): JSX.Element {
	return props.confirms ? <Confirmation /> : <Request />;
}

/** Step is the frame of one state of the page: its title, its content, and a link to the sign-in page unless it has a next step. */
function Step(props: { title: string; next?: ComponentChildren; children: ComponentChildren }): JSX.Element {
	useEffect(() => {
		document.title = `${props.title} · Vayu`;
	}, [props.title]);
	return (
		<Alone title={props.title}>
			{props.children}
			{props.next ?? (
				<p class="aside">
					<a href="/dashboard/">{t('signup.signin')}</a>
				</p>
			)}
		</Alone>
	);
}

/** Result replaces a form after its reply. It gets the focus for screen readers. */
function Result(props: { title: string; next: ComponentChildren; children: ComponentChildren }): JSX.Element {
	const element = useRef<HTMLDivElement>(null);
	useEffect(() => element.current?.focus(), []);
	return (
		<Step title={props.title} next={props.next}>
			<div ref={element} class="result" tabIndex={-1}>
				{props.children}
			</div>
		</Step>
	);
}

/** NewKey is the result with a key, which is shown once. Its next step signs in with the key. */
function NewKey(props: { title: string; value: string; after?: ComponentChildren; children: ComponentChildren }): JSX.Element {
	const [copied, setCopied] = useState(false);
	const open = async () => {
		await signIn(props.value);
		navigate('/dashboard/', { replace: true });
	};
	return (
		<Result
			title={props.title}
			next={
				<>
					<Form submit={open} button={t('signup.open')} {...(copied ? { tone: 'primary' } : {})} />
					{props.after}
				</>
			}
		>
			<SecretBox value={props.value} copied={() => setCopied(true)}>
				<p>{t('account.shown.once')}</p>
			</SecretBox>
			{props.children}
		</Result>
	);
}

/** useSignupMode fetches who can sign up. */
function useSignupMode() {
	return useQuery({ queryKey: ['signup'], queryFn: ({ signal }) => unwrap(withKey.GET('/v1/signup', { signal })) });
}

/** NoMail says what to do if no mail arrives. The server limits the mails to an address, and an invite code is for one sign-up. */
function NoMail(props: { invited: boolean; repeat: () => void }): JSX.Element {
	return (
		<div class="aside">
			<p class="hint">{t(props.invited ? 'signup.spam.invite' : 'signup.spam')}</p>
			<button type="button" onClick={props.repeat}>
				{t(props.invited ? 'signup.again.invite' : 'signup.again')}
			</button>
		</div>
	);
}

/** NextLink is the link of the next step of a result without a key. */
function NextLink(props: { to: string; children: string }): JSX.Element {
	return (
		<p class="next">
			<a class="primary" href={props.to}>
				{props.children}
			</a>
		</p>
	);
}

/** Request makes an account. If its mail does not arrive, the person signs up again, because each link belongs to one account. */
function Request(): JSX.Element {
	const mode = useSignupMode();
	const [email, setEmail] = useState('');
	const [invite, setInvite] = useState('');
	const [made, setMade] = useState<Schemas['SignedUp']>();
	const repeat = () => {
		setInvite('');
		setMade(undefined);
	};
	if (made) {
		return (
			<NewKey title={t('signup.made.title')} value={made.key} after={<NoMail invited={mode.data?.mode === 'invite'} repeat={repeat} />}>
				<p>{t('signup.sent', { email: email.trim() })}</p>
				<p class="hint">
					{t('signup.ends')} <Time at={made.expires_at} />
				</p>
			</NewKey>
		);
	}
	const submit = async () => {
		const body = { email: email.trim(), ...(invite ? { invite: invite.trim() } : {}) };
		const reply = unwrap(withKey.POST('/v1/signup', { body }));
		setMade(await reply.catch(rethrowWith({ email: t('signup.wrong.email'), invite: t('signup.wrong.invite') })));
	};
	return (
		<Step title={t('signup.title')}>
			<Fetched query={mode}>
				{({ mode }) =>
					mode === 'off' ? (
						<p>{t('signup.off')}</p>
					) : (
						<Form submit={submit} button={t('signup.submit')} tone="primary">
							<p>{t('signup.what')}</p>
							<EmailField label={t('signup.email')} hint={t('signup.email.hint')} autocomplete="email" value={email} change={setEmail} />
							{mode === 'invite' && <Field label={t('signup.invite')} name="invite" required value={invite} change={setInvite} />}
						</Form>
					)
				}
			</Fetched>
		</Step>
	);
}

/** Confirmation confirms the address when its button is pressed. Programs that only open the link of a mail confirm nothing. */
function Confirmation(): JSX.Element {
	const [done, setDone] = useState<Schemas['SignupConfirmed'] | 'refused'>();
	const [member, setMember] = useState(false);
	const mode = useSignupMode().data?.mode;
	const confirm = async () => {
		const reply = withKey.POST('/v1/signup/confirm', { body: { token: window.location.hash.slice(1), member } });
		setDone(await unlessRefused(unwrap(reply), 'token'));
	};
	if (done === 'refused') {
		return (
			<Result title={t('signin.link.failed')} next={<NextLink to={signUpPath}>{t('signup.link')}</NextLink>}>
				<p>{t('signup.wrong.token')}</p>
				<p>{t(mode === 'invite' ? 'signup.wrong.next.invite' : 'signup.wrong.next')}</p>
			</Result>
		);
	}
	if (done?.key) {
		return (
			<NewKey title={t('signup.confirmed.title')} value={done.key}>
				<p>{t('signup.confirmed')}</p>
			</NewKey>
		);
	}
	if (done) {
		const name = done.outcome === 'address_in_use' ? 'known' : 'repeated';
		return (
			<Result title={t(`signup.${name}.title`)} next={<NextLink to="/dashboard/">{t('signin.link.back')}</NextLink>}>
				<p>{t(`signup.${name}`)}</p>
				<p>{t('signup.lost')}</p>
			</Result>
		);
	}
	return (
		<Step title={t('signup.confirm.title')}>
			<Form submit={confirm} button={t('signup.confirm')} tone="primary">
				<p>{t('signup.confirm.what')}</p>
				<Check checked={member} change={setMember}>
					{t('signup.confirm.member')}
				</Check>
			</Form>
		</Step>
	);
}
