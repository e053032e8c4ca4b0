import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api, type Schemas } from '../../api/client';
import { queries } from '../../api/queries';
import { t } from '../../i18n';
import { Dialog } from '../../ui/dialog';
import { Field, Refused, Select, useSubmission } from '../../ui/form';
import { amountOf, recorded, wrong } from '../recorded';
import { freshRef } from '../ref';
import { sandbox } from '../words';

const methods = ['upi', 'card', 'netbanking', 'bank_transfer'] as const;

/** TopUp pays into the wallet. The reference stays the same until a payment was made under it. */
export function TopUp(props: { close: () => void }): JSX.Element {
	const [amount, setAmount] = useState('');
	const [method, setMethod] = useState<Schemas['PaymentMethod']>('upi');
	const [ref, setRef] = useState(() => freshRef('topup'));
	const submission = useSubmission(async () => {
		const rupees = amountOf(amount);
		if (rupees === undefined) {
			throw wrong('amount', t('transactions.amount.wrong'));
		}
		const { problem } = await recorded(
			api.POST('/v1/wallet/topups', { body: { amount: rupees, method, ...(ref.trim() && { ref_id: ref.trim() }) } }),
			'payment_id',
		);
		for (const first of ['wallet', 'events', 'audit']) {
			void queries.invalidateQueries({ queryKey: [first] });
		}
		if (problem) {
			setRef(freshRef('topup'));
			throw problem;
		}
		props.close();
	});
	const { of, problem } = submission;
	return (
		<Dialog title={t('wallet.topup')} close={props.close}>
			<form onSubmit={submission.submit}>
				<Field
					label={t('recharge.amount')}
					hint={t(sandbox() ? 'wallet.topup.sandbox' : 'wallet.topup.live')}
					problem={of('amount')}
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
				<Field
					label={t('transactions.ref')}
					hint={t('wallet.ref.hint')}
					problem={of('ref_id') ?? (problem?.code === 'duplicate_ref_id' ? problem.message : undefined)}
					maxLength={255}
					spellcheck={false}
					value={ref}
					onInput={(event) => setRef(event.currentTarget.value)}
				/>
				<Refused submission={submission} fields={['amount', 'ref_id']} />
				{problem?.status === 0 && <p class="note">{t('transactions.again.safe')}</p>}
				<div class="actions">
					<button type="submit" class="primary" disabled={submission.busy}>
						{submission.busy ? t('transactions.sending') : t('wallet.topup.do')}
					</button>
					<button type="button" onClick={props.close}>
						{t('action.cancel')}
					</button>
				</div>
			</form>
		</Dialog>
	);
}
