import { useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { navigate } from 'wouter-preact/use-browser-location';
import { Problem, problemOf, rethrowWith, unlessRefused, unwrap, withKey } from './api/client';
import { t } from './i18n';
import { signUpPath } from './routes';
import { Alone } from './Shell';
import { signIn, signInWithLink, type Why } from './session';
import { errorMessage } from './ui/FetchState';
import { EmailField, Field } from './ui/Field';
import { Form } from './ui/Form';
import './signin.css';

function refusal(problem: Problem): string {
	switch (problem.code) {
		case 'unauthorized':
			return t('signin.unknown');
		case 'signature_required':
			return t('signin.signed');
		default:
			return errorMessage(problem);
	}
}

/** reasons are the notes about sessions that have ended. */
const reasons = { ended: 'signin.ended', left: 'signin.left', removed: 'signin.removed' } as const;

/** SignIn exchanges an API key for a session, or sends a link in a mail. */
export function SignIn(props: { why: Why }): JSX.Element {
	const [key, setKey] = useState('');
	const submit = () =>
		signIn(key.trim()).catch((error: unknown) => {
			throw Problem.atField('key', refusal(problemOf(error)));
		});
	const mode = useQuery({ queryKey: ['signup'], queryFn: ({ signal }) => unwrap(withKey.GET('/v1/signup', { signal })) }).data?.mode;
	useEffect(() => {
		document.title = t('signin.title');
	});
	const world = key.startsWith('sk_live_') ? t('signin.live') : key.startsWith('sk_test_') ? t('signin.test') : '';
	return (
		<Alone title={t('signin.title')}>
			{props.why !== 'new' && (
				<p class="note" role="status">
					{t(reasons[props.why])}
				</p>
			)}
			<Form submit={submit} button={t('signin.submit')} tone="primary">
				<Field
					label={t('signin.key')}
					hint={world || t('signin.key.hint')}
					name="key"
					type="password"
					autocomplete="current-password"
					autofocus
					required
					value={key}
					change={setKey}
				/>
			</Form>
			<p class="hint">{t('signin.why')}</p>
			<RequestLink />
			{mode && mode !== 'off' && (
				<p class="aside">
					{t('signup.ask')} <a href={signUpPath}>{t('signup.link')}</a>
				</p>
			)}
		</Alone>
	);
}

/** RequestLink sends a sign-in link to a mail address. The reply does not say whether a member has this address. */
function RequestLink(): JSX.Element {
	const [email, setEmail] = useState('');
	const [sent, setSent] = useState('');
	const note = useRef<HTMLParagraphElement>(null);
	useEffect(() => note.current?.focus(), [sent]);
	const [again, setAgain] = useState(false);
	const send = async () => {
		setAgain(false);
		const reply = unwrap(withKey.POST('/v1/sign-in-links', { body: { email: email.trim() } }));
		await reply.catch(rethrowWith({ email: t('signup.wrong.email') }));
		setAgain(sent !== '');
		setSent(email.trim());
	};
	return (
		<section class="by-mail">
			<h2>{t('signin.email.title')}</h2>
			{sent ? (
				<>
					<p ref={note} tabIndex={-1} class="note">
						{t('signin.email.sent', { email: sent })}
					</p>
					<p class="hint">{t('signin.email.spam')}</p>
					<Form submit={send} button={t('signin.email.again')} cancel={() => setSent('')} cancelText={t('signin.email.other')}>
						<p class="hint" role="status">
							{again && t('signin.email.sent.again')}
						</p>
					</Form>
				</>
			) : (
				<Form submit={send} button={t('signin.email.submit')}>
					<EmailField label={t('signup.email')} hint={t('signin.email.hint')} autocomplete="email" value={email} change={setEmail} />
				</Form>
			)}
		</section>
	);
}

/** SignInWithLink is the page of the link in a mail. It signs in when its button is pressed, because programs open links of mails. */
export function SignInWithLink(): JSX.Element {
	useEffect(() => {
		document.title = t('signin.title');
	});
	const [wrong, setWrong] = useState(false);
	const note = useRef<HTMLDivElement>(null);
	useEffect(() => note.current?.focus(), [wrong]);
	const submit = async () => {
		if ((await unlessRefused(signInWithLink(window.location.hash.slice(1)), 'token')) === 'refused') {
			setWrong(true);
			return;
		}
		navigate('/dashboard/', { replace: true });
	};
	if (wrong) {
		return (
			<Alone title={t('signin.link.failed')}>
				<div ref={note} class="result" tabIndex={-1}>
					<p>{t('signin.link.wrong')}</p>
				</div>
				<p class="next">
					<a class="primary" href="/dashboard/">
						{t('signin.link.back')}
					</a>
				</p>
			</Alone>
		);
	}
	return (
		<Alone title={t('signin.link.title')}>
			<Form submit={submit} button={t('signin.submit')} tone="primary">
				<p>{t('signin.link.what')}</p>
			</Form>
			<p class="aside">
				<a href="/dashboard/">{t('signin.link.back')}</a>
			</p>
		</Alone>
	);
}
