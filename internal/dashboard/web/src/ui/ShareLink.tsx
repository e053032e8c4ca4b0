import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../i18n';
import { Copy } from './Badge';

/**
 * ShareLink copies the address of the page, which has all that a person has chosen. A phone offers its own ways to
 * share.
 */
export function ShareLink(props: { title: string }): JSX.Element {
	const [refused, setRefused] = useState(false);
	if (refused || typeof navigator.share !== 'function' || !matchMedia('(pointer: coarse)').matches) {
		return <Copy value={() => location.href} name={t('action.share')} />;
	}
	const share = async () => {
		try {
			await navigator.share({ title: props.title, url: location.href });
		} catch (error) {
			// A person who closes the list of ways has shared nothing, and nothing has failed.
			setRefused(!(error instanceof DOMException && error.name === 'AbortError'));
		}
	};
	return (
		<button type="button" class="small" onClick={() => void share()}>
			{t('action.share.phone')}
		</button>
	);
}
