import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api, Problem, type Schemas } from '../../api/client';
import { invalidate } from '../../api/queries';
import { t } from '../../i18n';
import { Dialog } from '../../ui/Dialog';
import { Field, Select } from '../../ui/Field';
import { Form } from '../../ui/Form';
import { amountOf, recorded } from '../recorded';
import { freshRef } from '../ref';
import { isSandbox } from '../StatusBadge';

const methods = ['upi', 'card', 'netbanking', 'bank_transfer'] as const;

/** TopUp pays into the wallet. The reference stays the same until a payment was created under it. */
export function TopUp(props: { close: () => void }): JSX.Element {
	const [amount, setAmount] = useState('');
	const [method, setMethod] = useState<Schemas['PaymentMethod']>('upi');
	const [ref, setRef] = useState(() => freshRef('topup'));
	const pay = async () => {
		const sum = amountOf(amount);
		if (sum === undefined) {
			throw Problem.atField('amount', t('transactions.amount.wrong'));
		}
		const { problem } = await recorded(
			api.POST('/v1/wallet/topups', { body: { amount: sum, method, ...(ref.trim() && { ref_id: ref.trim() }) } }),
			'payment_id',
		);
		invalidate('wallet', 'events', 'audit');
		if (problem) {
			setRef(freshRef('topup'));
			throw problem;
		}
		props.close();
	};
	return (
		<Dialog title={t('wallet.topup')} close={props.close}>
			<Form submit={pay} button={t('wallet.topup.do')} tone="primary" cancel={props.close}>
				<Field
					label={t('recharge.amount')}
					hint={t(isSandbox() ? 'wallet.topup.sandbox' : 'wallet.topup.live')}
					name="amount"
					inputMode="decimal"
					required
					value={amount}
					change={setAmount}
				/>
				<Select
					label={t('wallet.method')}
					value={method}
					options={methods.map((one) => [one, t(`wallet.method.${one}`)])}
					change={setMethod}
				/>
				<Field label={t('transactions.ref')} hint={t('wallet.ref.hint')} name="ref_id" maxLength={255} value={ref} change={setRef} />
			</Form>
		</Dialog>
	);
}
