import type { JSX } from 'preact';
import type { Schemas } from '../api/client';
import { t } from '../i18n';
import { CopyableText } from '../ui/Badge';
import { Dialog } from '../ui/Dialog';

/** NewKeySecret shows a new key. The API returns it only once. */
export function NewKeySecret(props: { made: Schemas['KeyMade']; close: () => void }): JSX.Element {
	return (
		<Dialog title={t('account.shown.title')} close={props.close} kept={t('account.shown.kept')}>
			<p class="note">{t('account.shown.once')}</p>
			<p>
				<CopyableText value={props.made.key} />
			</p>
			{props.made.signing_secret && (
				<>
					<h3>{t('account.shown.secret')}</h3>
					<p>
						<CopyableText value={props.made.signing_secret} />
					</p>
				</>
			)}
		</Dialog>
	);
}
