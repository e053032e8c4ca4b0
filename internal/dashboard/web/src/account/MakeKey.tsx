import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api, type Schemas, unwrap } from '../api/client';
import { t } from '../i18n';
import { hasScope } from '../session';
import { Dialog } from '../ui/Dialog';
import { Field, FormError, useSubmission } from '../ui/Form';
import { networks, scopes } from './scopes';

type Scope = Schemas['Scope'];

/** What a new key has unless its maker says otherwise: all but the right to make keys. */
const usual = () => new Set(scopes.map(([scope]) => scope).filter((scope) => scope !== 'keys:manage' && hasScope(scope)));

/** MakeKey makes a key that can do no more than the one that is signed in. */
export function MakeKey(props: { close: () => void; made: (key: Schemas['KeyMade']) => void }): JSX.Element {
	const [name, setName] = useState('');
	const [chosen, setChosen] = useState<ReadonlySet<Scope>>(usual);
	const [from, setFrom] = useState('');
	const [expires, setExpires] = useState('');
	const [signed, setSigned] = useState(false);
	const submission = useSubmission(async () => {
		props.made(
			await unwrap(
				api.POST('/v1/keys', {
					body: {
						name,
						scopes: [...chosen],
						...(from.trim() ? { allow_list: networks(from) } : {}),
						...(expires ? { expires_at: `${expires}T18:29:59Z` } : {}),
						...(signed ? { require_signature: true } : {}),
					},
				}),
			),
		);
	});
	const toggle = (scope: Scope, on: boolean) => {
		const next = new Set(chosen);
		if (on) {
			next.add(scope);
		} else {
			next.delete(scope);
		}
		setChosen(next);
	};
	return (
		<Dialog title={t('account.key.make')} close={props.close}>
			<form onSubmit={submission.submit}>
				<Field
					label={t('account.key.name')}
					hint={t('account.key.name.hint')}
					problem={submission.of('name')}
					value={name}
					maxLength={100}
					required
					onInput={(event) => setName(event.currentTarget.value)}
				/>
				<fieldset>
					<legend>{t('account.key.scopes')}</legend>
					{scopes
						.filter(([scope]) => hasScope(scope))
						.map(([scope, text]) => (
							<label key={scope} class="check">
								<input type="checkbox" checked={chosen.has(scope)} onChange={(event) => toggle(scope, event.currentTarget.checked)} />
								<span>
									<code>{scope}</code> {t(text)}
								</span>
							</label>
						))}
					<p class="wrong">{submission.of('scopes')}</p>
				</fieldset>
				<Field
					label={t('account.key.from')}
					hint={t('account.key.from.hint')}
					problem={submission.of('allow_list')}
					value={from}
					onInput={(event) => setFrom(event.currentTarget.value)}
				/>
				<Field
					label={t('account.key.expires')}
					hint={t('account.key.expires.hint')}
					problem={submission.of('expires_at')}
					type="date"
					value={expires}
					onInput={(event) => setExpires(event.currentTarget.value)}
				/>
				<label class="check">
					<input type="checkbox" checked={signed} onChange={(event) => setSigned(event.currentTarget.checked)} />
					<span>{t('account.key.signed')}</span>
				</label>
				<FormError submission={submission} fields={['name', 'scopes', 'allow_list', 'expires_at']} />
				<button type="submit" class="primary" disabled={submission.busy || chosen.size === 0}>
					{t('account.key.make')}
				</button>
			</form>
		</Dialog>
	);
}
