import type { JSX } from 'preact';
import type { Schemas } from '../api/client';
import { t } from '../i18n';
import { Dialog } from '../ui/Dialog';
import { SecretBox } from './SecretBox';
import './account.css';

/** NewKeySecret shows a new key, and its signing secret if it has one. The API returns them only once. */
export function NewKeySecret(props: { made: Schemas['KeyMade']; close: () => void }): JSX.Element {
	const { key, signing_secret: secret } = props.made;
	return (
		<Dialog title={t('account.shown.title')} close={props.close} kept={t('account.shown.kept')}>
			<p>{t(secret ? 'account.shown.both' : 'account.shown.once')}</p>
			<SecretBox value={key} {...(secret ? { title: t('account.calls.key') } : {})} />
			{secret && <SecretBox title={t('account.shown.secret')} value={secret} />}
		</Dialog>
	);
}
