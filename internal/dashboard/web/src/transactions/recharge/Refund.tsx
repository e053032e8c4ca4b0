import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api, type Schemas, unwrap } from '../../api/client';
import { invalidate } from '../../api/queries';
import { rupees } from '../../format';
import { t } from '../../i18n';
import { Dialog } from '../../ui/Dialog';
import { Field } from '../../ui/Field';
import { Form } from '../../ui/Form';

/** Refund confirms and requests the refund of a recharge. The request is idempotent. */
export function Refund(props: { recharge: Schemas['Recharge']; close: () => void }): JSX.Element {
	const { recharge, close } = props;
	const [reason, setReason] = useState('');
	const refund = async () => {
		await unwrap(
			api.POST('/v1/recharge/{id}/refund', {
				params: { path: { id: recharge.transaction_id } },
				body: reason.trim() ? { reason: reason.trim() } : {},
			}),
		);
		invalidate('recharges', 'wallet', 'events', 'audit');
		close();
	};
	return (
		<Dialog title={t('recharge.refund.title')} close={close}>
			<Form submit={refund} button={t('recharge.refund.do', { amount: rupees(recharge.amount) })} tone="danger" cancel={close}>
				<p>{t('recharge.refund.what', { amount: rupees(recharge.amount), number: recharge.mobile, operator: recharge.operator })}</p>
				<p>{t('recharge.refund.then')}</p>
				<Field
					label={t('recharge.reason')}
					hint={t('recharge.reason.hint')}
					name="reason"
					maxLength={255}
					value={reason}
					change={setReason}
				/>
			</Form>
		</Dialog>
	);
}
