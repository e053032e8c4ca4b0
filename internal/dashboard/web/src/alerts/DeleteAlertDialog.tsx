import type { JSX } from 'preact';
import { useLocation } from 'wouter-preact';
import { api, unwrap } from '../api/client';
import { invalidate, queries } from '../api/queries';
import { t } from '../i18n';
import { Dialog } from '../ui/Dialog';
import { Form } from '../ui/Form';
import { title } from './describe';
import type { Alert } from './draft';

/** DeleteAlertDialog deletes an alert with its history, and opens the list of alerts. */
export function DeleteAlertDialog(props: { alert: Alert; close: () => void }): JSX.Element {
	const { id } = props.alert;
	const [, go] = useLocation();
	const remove = async () => {
		await unwrap(api.DELETE('/v1/alerts/{id}', { params: { path: { id } } }));
		go('/alerts');
		queries.removeQueries({ queryKey: ['alerts', 'one', id] });
		queries.removeQueries({ queryKey: ['alerts', 'history', id] });
		invalidate('alerts');
	};
	return (
		<Dialog title={t('alerts.remove')} close={props.close}>
			<Form submit={remove} button={t('alerts.remove')} tone="danger" cancel={props.close}>
				<p class="alerts-name">
					<strong>{title(props.alert)}</strong>
				</p>
				<p>{t('alerts.remove.about')}</p>
			</Form>
		</Dialog>
	);
}
