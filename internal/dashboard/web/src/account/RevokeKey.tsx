import type { JSX } from 'preact';
import { api, type Schemas, unwrap } from '../api/client';
import { t } from '../i18n';
import { refreshSession, sessionState } from '../session';
import { Dialog } from '../ui/Dialog';
import { Form } from '../ui/Form';

/** RevokeKey revokes a key permanently. It lists the consequences first. */
export function RevokeKey(props: { of: Schemas['Key']; close: () => void; revoked: () => void }): JSX.Element {
	const now = sessionState.value;
	const own = now.at === 'in' && now.current.key.id === props.of.id;
	const revoke = async () => {
		await unwrap(api.DELETE('/v1/keys/{id}', { params: { path: { id: props.of.id } } }));
		props.revoked();
		if (own) {
			await refreshSession();
		}
	};
	return (
		<Dialog title={t('account.revoke.title', { name: props.of.name, end: `\u2060${props.of.last_four}` })} close={props.close}>
			<Form submit={revoke} button={t('account.key.revoke')} tone="danger" cancel={props.close}>
				<p>{t(own ? 'account.revoke.own' : 'account.revoke.what')}</p>
			</Form>
		</Dialog>
	);
}
