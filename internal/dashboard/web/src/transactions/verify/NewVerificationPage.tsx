import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { api, Problem } from '../../api/client';
import { invalidate } from '../../api/queries';
import { t } from '../../i18n';
import { Field, Radios, Select } from '../../ui/Field';
import { Form } from '../../ui/Form';
import { Card, Page } from '../../ui/Page';
import { recorded } from '../recorded';
import { freshRef } from '../ref';
import { type SandboxValues, Values } from '../SandboxValues';
import '../transactions.css';

const accounts: readonly SandboxValues[] = (['0001', '0002', '0003', '0004', '0005', '0006', '0007', '0008', '0009', '0010'] as const).map(
	(last) => ({
		value: `0011223344${last}`,
		says: `verify.magic.${last}`,
	}),
);

const addresses: readonly SandboxValues[] = (
	[
		['success', '0001'],
		['partial', '0002'],
		['dormant', '0004'],
		['failure', '0007'],
		['suspicious', '0008'],
		['timeout', '0009'],
	] as const
).map(([name, as]) => ({ value: `${name}@upi`, says: `verify.magic.${as}` }));

/**
 * wait is the number of seconds that the API may wait for the result. A later result appears on the
 * verification's own page.
 */
const wait = 2;

/** NewVerificationPage verifies a bank account or UPI address. Its reference makes a retry idempotent. */
export function NewVerificationPage(): JSX.Element {
	const [, navigate] = useLocation();
	const [method, setMethod] = useState<'penny_drop' | 'upi'>('penny_drop');
	const [account, setAccount] = useState('');
	const [ifsc, setIfsc] = useState('');
	const [vpa, setVpa] = useState('');
	const [name, setName] = useState('');
	const [tolerance, setTolerance] = useState('');
	const [least, setLeast] = useState('70');
	const [ref, setRef] = useState(() => freshRef('verify'));
	const send = async () => {
		const limit = tolerance === 'number' ? Number(least) : tolerance;
		if (typeof limit === 'number' && !(Number.isInteger(limit) && limit >= 0 && limit <= 100)) {
			throw Problem.atField('name_match_tolerance', t('verify.least.wrong'));
		}
		const { id } = await recorded(
			api.POST('/v1/bank/verify', {
				params: { header: { Prefer: `wait=${wait}` } },
				body: {
					...(method === 'upi' ? { vpa: vpa.trim() } : { account_number: account.replace(/[\s-]/g, ''), ifsc: ifsc.trim() }),
					...(name.trim() && { name: name.trim() }),
					...(limit !== '' && { name_match_tolerance: limit }),
					...(ref.trim() && { ref_id: ref.trim() }),
				} as never,
			}),
			'verification_id',
		);
		invalidate('verifications', 'events', 'audit');
		navigate(`/verifications/${id}`);
	};
	return (
		<Page title={t('verify.new')}>
			<div class="beside">
				<Card class="new-form">
					<Form submit={send} button={t('verify.send')} tone="primary">
						<Radios
							label={t('verify.method')}
							value={method}
							options={[
								['penny_drop', t('verify.method.penny_drop')],
								['upi', t('verify.method.upi')],
							]}
							hint={t(`verify.method.${method}.hint`)}
							change={setMethod}
						/>
						{method === 'penny_drop' ? (
							<div class="pair">
								<Field
									label={t('verify.number')}
									hint={t('verify.number.hint')}
									name="account_number"
									inputMode="numeric"
									required
									value={account}
									change={setAccount}
								/>
								<Field
									label={t('verify.ifsc')}
									hint={t('verify.ifsc.hint')}
									name="ifsc"
									maxLength={15}
									required
									value={ifsc}
									change={setIfsc}
								/>
							</div>
						) : (
							<Field label={t('verify.vpa')} hint={t('verify.vpa.hint')} name="vpa" required value={vpa} change={setVpa} />
						)}
						<div class="pair">
							<Field label={t('verify.name')} hint={t('verify.name.hint')} name="name" maxLength={256} value={name} change={setName} />
							<Select
								label={t('verify.tolerance')}
								{...(tolerance === 'number' ? {} : { name: 'name_match_tolerance' })}
								value={tolerance}
								options={[
									['', t('verify.tolerance.account')],
									['strict', t('verify.tolerance.strict')],
									['standard', t('verify.tolerance.standard')],
									['lenient', t('verify.tolerance.lenient')],
									['number', t('verify.tolerance.number')],
								]}
								change={setTolerance}
							/>
						</div>
						{tolerance === 'number' && (
							<Field
								label={t('verify.least')}
								name="name_match_tolerance"
								type="number"
								min={0}
								max={100}
								step={1}
								required
								value={least}
								change={setLeast}
							/>
						)}
						<Field label={t('transactions.ref')} hint={t('verify.ref.hint')} name="ref_id" maxLength={255} value={ref} change={setRef} />
					</Form>
				</Card>
				<Values
					title={t('transactions.magic.title')}
					hint={t('verify.magic')}
					values={method === 'upi' ? addresses : accounts}
					use={(value) => {
						if (method === 'upi') {
							setVpa(value);
						} else {
							setAccount(value);
							setIfsc((now) => now || 'SBIN0000691');
						}
						setName((now) => now || 'Asha Rao');
					}}
				/>
			</div>
		</Page>
	);
}
