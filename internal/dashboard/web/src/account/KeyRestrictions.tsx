import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api, type Schemas, unwrap } from '../api/client';
import { queries } from '../api/queries';
import { t } from '../i18n';
import { hasScope } from '../session';
import { Field, FormError, useSubmission } from '../ui/Form';
import { networks } from './scopes';

/** Allowed is the account's list of addresses from which its keys work; a live key that manages keys changes it. */
export function Allowed(props: { of: Schemas['Account'] }): JSX.Element {
	const [text, setText] = useState(props.of.allow_list.join(', '));
	const submission = useSubmission(async () => {
		await unwrap(api.PATCH('/v1/account', { body: { allow_list: networks(text) } }));
		await queries.invalidateQueries({ queryKey: ['usage'] });
	});
	const changes = hasScope('keys:manage') && props.of.mode === 'live';
	return (
		<form onSubmit={submission.submit}>
			<Field
				label={t('account.allowed')}
				hint={t(changes ? 'account.allowed.hint' : 'account.allowed.read')}
				problem={submission.of('allow_list')}
				value={text}
				readOnly={!changes}
				onInput={(event) => setText(event.currentTarget.value)}
			/>
			<FormError submission={submission} fields={['allow_list']} />
			{changes && (
				<button type="submit" disabled={submission.busy}>
					{t('action.save')}
				</button>
			)}
		</form>
	);
}
