import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Problem } from './api/client';
import { t } from './i18n';
import { Choices } from './Shell';
import { signIn } from './session';
import { errorMessage } from './ui/FetchState';
import { Field, useSubmission } from './ui/Form';

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
	const submission = useSubmission(() => signIn(key.trim()));
	useEffect(() => {
		document.title = t('signin.title');
	});
	const world = key.startsWith('sk_live_') ? t('signin.live') : key.startsWith('sk_test_') ? t('signin.test') : '';
	return (
		<main class="alone">
			<form class="card" onSubmit={submission.submit}>
				<h1>{t('signin.title')}</h1>
				{props.why !== 'new' && <p class="note">{t(props.why === 'ended' ? 'signin.ended' : 'signin.left')}</p>}
				<Field
					label={t('signin.key')}
					hint={world || t('signin.key.hint')}
					problem={submission.problem && refusal(submission.problem)}
					type="password"
					autocomplete="current-password"
					spellcheck={false}
					autofocus
					required
					value={key}
					onInput={(event) => setKey(event.currentTarget.value)}
				/>
				<button type="submit" class="primary" disabled={submission.busy}>
					{t('signin.submit')}
				</button>
				<p class="hint">{t('signin.why')}</p>
			</form>
			<Choices />
		</main>
	);
}
