import type { JSX } from 'preact';
import type { Schemas } from '../api/client';
import { t } from '../i18n';
import { Dialog } from '../ui/dialog';
import { Copyable } from '../ui/parts';

/** Shown is the one time that a new key can be read. */
export function Shown(props: { made: Schemas['KeyMade']; close: () => void }): JSX.Element {
	return (
		<Dialog title={t('account.shown.title')} close={props.close}>
			<p class="note">{t('account.shown.once')}</p>
			<p>
				<Copyable value={props.made.key} />
			</p>
			{props.made.signing_secret && (
				<>
					<h3>{t('account.shown.secret')}</h3>
					<p>
						<Copyable value={props.made.signing_secret} />
					</p>
				</>
			)}
		</Dialog>
	);
}
