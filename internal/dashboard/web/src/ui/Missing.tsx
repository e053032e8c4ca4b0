import type { JSX } from 'preact';
import { Link } from 'wouter-preact';
import { t } from '../i18n';

/** Missing says why an object may not be found, and links to the list of all. */
export function Missing(props: { to: string; list: string }): JSX.Element {
	return (
		<>
			<p>{t('state.missing')}</p>
			<p>
				<Link href={props.to} class="button">
					{props.list}
				</Link>
			</p>
		</>
	);
}
