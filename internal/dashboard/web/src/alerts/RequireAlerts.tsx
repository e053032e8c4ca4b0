import type { ComponentChildren, JSX } from 'preact';
import { hasScope } from '../session';
import { LacksScope } from '../ui/Missing';

/** RequireAlerts renders its children if the key may manage alerts, and otherwise a message that names the scope. */
export function RequireAlerts(props: { children: ComponentChildren }): JSX.Element {
	if (!hasScope('alerts:manage')) {
		return <LacksScope scope="alerts:manage" />;
	}
	return <>{props.children}</>;
}
