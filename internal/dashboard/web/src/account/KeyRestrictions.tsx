import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api, type Schemas, unwrap } from '../api/client';
import { queries } from '../api/queries';
import { t } from '../i18n';
import { hasScope } from '../session';
import { Field } from '../ui/Field';
import { Form } from '../ui/Form';
import { networks } from './scopes';

/**
 * Allowed shows the networks from which the account's keys work. Only a live key with keys:manage can change
 * them.
 */
export function Allowed(props: { of: Schemas['Account'] }): JSX.Element {
	const [text, setText] = useState(props.of.allow_list.join(', '));
	if (!hasScope('keys:manage') || props.of.mode !== 'live') {
		return (
			<>
				<h3>{t('account.allowed')}</h3>
				<p>{props.of.allow_list.join(', ') || t('account.allowed.every')}</p>
				<p class="hint">{t('account.allowed.read')}</p>
			</>
		);
	}
	const save = async () => {
		await unwrap(api.PATCH('/v1/account', { body: { allow_list: networks(text) } }));
		await queries.invalidateQueries({ queryKey: ['usage'] });
	};
	return (
		<Form submit={save} button={t('action.save')}>
			<Field label={t('account.allowed')} hint={t('account.allowed.hint')} name="allow_list" value={text} change={setText} />
		</Form>
	);
}
