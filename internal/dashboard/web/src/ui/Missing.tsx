import type { JSX } from 'preact';
import { Link } from 'wouter-preact';
import type { Schemas } from '../api/client';
import { t } from '../i18n';
import { hasScope } from '../session';
import { Empty } from './FetchState';

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

/** LacksScope says that the key lacks the scope of a page, and how to get a key that has it. */
export function LacksScope(props: { scope: Schemas['Scope'] }): JSX.Element {
	return (
		<Empty title={t('state.scope', { scope: props.scope })}>
			<p>{t('state.scope.hint')}</p>
			{hasScope('keys:manage') && (
				<p>
					<Link href="/keys" class="button">
						{t('shell.keys')}
					</Link>
				</p>
			)}
		</Empty>
	);
}
