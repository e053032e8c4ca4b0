import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api, type Schemas } from '../../api/client';
import { invalidate } from '../../api/queries';
import { t } from '../../i18n';
import { Dialog } from '../../ui/Dialog';
import { Field, Select, useSubmission } from '../../ui/Form';
import { amountOf, recorded, wrong } from '../recorded';
import { freshRef } from '../ref';
import { sandboxHint } from '../StatusBadge';
import { Reference, Send } from '../TransactionForm';

const methods = ['upi', 'card', 'netbanking', 'bank_transfer'] as const;

/** TopUp pays into the wallet. The reference stays the same until a payment was made under it. */
export function TopUp(props: { close: () => void }): JSX.Element {
	const [amount, setAmount] = useState('');
	const [method, setMethod] = useState<Schemas['PaymentMethod']>('upi');
	const [ref, setRef] = useState(() => freshRef('topup'));
	const submission = useSubmission(async () => {
		const asked = amountOf(amount);
		if (asked === undefined) {
			throw wrong('amount', t('transactions.amount.wrong'));
		}
		const { problem } = await recorded(
			api.POST('/v1/wallet/topups', { body: { amount: asked, method, ...(ref.trim() && { ref_id: ref.trim() }) } }),
			'payment_id',
		);
		invalidate('wallet', 'events', 'audit');
		if (problem) {
			setRef(freshRef('topup'));
			throw problem;
		}
		props.close();
	});
	return (
		<Dialog title={t('wallet.topup')} close={props.close}>
			<form onSubmit={submission.submit}>
				<Field
					label={t('recharge.amount')}
					hint={t(sandboxHint() ? 'wallet.topup.sandbox' : 'wallet.topup.live')}
					problem={submission.of('amount')}
					inputMode="decimal"
					autocomplete="off"
					required
					value={amount}
					onInput={(event) => setAmount(event.currentTarget.value)}
				/>
				<Select
					label={t('wallet.method')}
					value={method}
					options={methods.map((one) => [one, t(`wallet.method.${one}`)])}
					onChange={(value) => setMethod(methods.find((one) => one === value) ?? 'upi')}
				/>
				<Reference value={ref} change={setRef} hint={t('wallet.ref.hint')} submission={submission} most={255} />
				<Send
					submission={submission}
					fields={['amount', 'ref_id']}
					text={t('wallet.topup.do')}
					beside={
						<button type="button" onClick={props.close}>
							{t('action.cancel')}
						</button>
					}
				/>
			</form>
		</Dialog>
	);
}
