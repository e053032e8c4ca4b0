import { useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Problem, problemOf, unwrap, withKey } from './api/client';
import { t } from './i18n';
import { signUpPath } from './routes';
import { Choices } from './Shell';
import { signIn } from './session';
import { errorMessage } from './ui/FetchState';
import { Field } from './ui/Field';
import { Form } from './ui/Form';

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

/** SignIn exchanges an API key for a session. */
export function SignIn(props: { why: 'new' | 'ended' | 'left' }): JSX.Element {
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
		<main class="alone">
			<div class="card">
				<h1>{t('signin.title')}</h1>
				{props.why !== 'new' && <p class="note">{t(props.why === 'ended' ? 'signin.ended' : 'signin.left')}</p>}
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
				{mode && mode !== 'off' && (
					<p>
						<a href={signUpPath}>{t('signup.link')}</a>
					</p>
				)}
			</div>
			<Choices />
		</main>
	);
}
