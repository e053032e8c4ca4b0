import type { ComponentChildren, JSX } from 'preact';
import { t } from '../i18n';
import { hasScope } from '../session';
import { Empty } from '../ui/FetchState';

/** RequireAlerts renders its children if the key may manage alerts, and otherwise a message that names the scope. */
export function RequireAlerts(props: { children: ComponentChildren }): JSX.Element {
	if (!hasScope('alerts:manage')) {
		return <Empty title={t('state.scope', { scope: 'alerts:manage' })} />;
	}
	return <>{props.children}</>;
}
