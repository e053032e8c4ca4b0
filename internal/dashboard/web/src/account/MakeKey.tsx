import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api, Problem, type Schemas, unwrap } from '../api/client';
import { t } from '../i18n';
import { hasScope } from '../session';
import { Dialog } from '../ui/Dialog';
import { Check, Field, Group, Select, toggled } from '../ui/Field';
import { Form, type IdempotencyKey } from '../ui/Form';
import { roleOf, roles } from './roles';
import { networks, scopes } from './scopes';

type Scope = Schemas['Scope'];

/** The scopes that a new key has only if they are chosen. */
const special: ReadonlySet<Scope> = new Set(['keys:manage', 'sources:read']);

/** The default scopes of a new key: the scopes of the session's key that are not special. */
const usual = () => new Set(scopes.map(([scope]) => scope).filter((scope) => !special.has(scope) && hasScope(scope)));

/** MakeKey creates a key. The API limits its scopes to those of the session's key. */
export function MakeKey(props: { close: () => void; made: (key: Schemas['KeyMade']) => void }): JSX.Element {
	const [name, setName] = useState('');
	const [chosen, setChosen] = useState<ReadonlySet<Scope>>(usual);
	const [from, setFrom] = useState('');
	const [expires, setExpires] = useState('');
	const [signed, setSigned] = useState(false);
	const make = async (idempotencyKey: IdempotencyKey) => {
		if (chosen.size === 0) {
			throw Problem.atField('scopes', t('account.key.scopes.required'));
		}
		const body = {
			name,
			scopes: [...chosen],
			...(from.trim() ? { allow_list: networks(from) } : {}),
			...(expires ? { expires_at: `${expires}T18:29:59Z` } : {}),
			...(signed ? { require_signature: true } : {}),
		};
		props.made(await unwrap(api.POST('/v1/keys', { params: { header: { 'Idempotency-Key': idempotencyKey(body) } }, body })));
	};
	return (
		<Dialog title={t('account.key.make')} close={props.close}>
			<Form submit={make} button={t('account.key.make')} tone="primary" cancel={props.close}>
				<Field
					label={t('account.key.name')}
					hint={t('account.key.name.hint')}
					name="name"
					value={name}
					maxLength={100}
					required
					change={setName}
				/>
				<Select
					label={t('account.role')}
					value={roleOf(chosen) ?? ''}
					options={[
						['', t('account.role.own')],
						...roles.filter(([, of]) => of.every((scope) => hasScope(scope))).map(([name]) => [name, t(`account.role.${name}`)] as const),
					]}
					change={(name) => setChosen(new Set(roles.find(([role]) => role === name)?.[1] ?? usual()))}
				/>
				<Group legend={t('account.key.scopes')} name="scopes">
					{scopes
						.filter(([scope]) => hasScope(scope))
						.map(([scope, text]) => (
							<Check key={scope} checked={chosen.has(scope)} change={(on) => setChosen(toggled(chosen, [scope], on))}>
								<code>{scope}</code> {t(text)}
							</Check>
						))}
				</Group>
				<Field label={t('account.key.from')} hint={t('account.key.from.hint')} name="allow_list" value={from} change={setFrom} />
				<Field
					label={t('account.key.expires')}
					hint={t('account.key.expires.hint')}
					name="expires_at"
					type="date"
					value={expires}
					change={setExpires}
				/>
				<Check checked={signed} change={setSigned}>
					{t('account.key.signed')}
				</Check>
			</Form>
		</Dialog>
	);
}
