import { useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { api, type Schemas, unwrap } from '../../api/client';
import { invalidate } from '../../api/queries';
import { rupees } from '../../format';
import { t } from '../../i18n';
import { Field, Select, useSubmission } from '../../ui/Form';
import { Card, Page } from '../../ui/Page';
import { Choice } from '../../ui/Tabs';
import { amountOf, recorded, wrong } from '../recorded';
import { freshRef } from '../ref';
import { type SandboxValues, Values } from '../SandboxValues';
import { Reference, Send } from '../TransactionForm';
import { Detected, useDetected } from './DetectedOperator';
import { digitsOf } from './digits';
import { Plans } from './Plans';
import '../transactions.css';

const magic: readonly SandboxValues[] = (['1', '2', '3', '4', '5', '6', '7', '8', '9'] as const).map((last) => ({
	value: `900000000${last}`,
	says: `recharge.magic.${last}`,
}));

const fields = ['mobile', 'subscriber_id', 'operator', 'amount', 'ref_id'] as const;

/**
 * NewRechargePage sends one recharge. Its reference stays the same until the API has recorded
 * something under it, so that trying again after a lost answer moves no money twice.
 */
export function NewRechargePage(): JSX.Element {
	const [, navigate] = useLocation();
	const [type, setType] = useState<Schemas['RechargeType']>('prepaid');
	const [number, setNumber] = useState('');
	const [operator, setOperator] = useState('auto');
	const [amount, setAmount] = useState('');
	const [ref, setRef] = useState(() => freshRef('recharge'));
	const [failed, setFailed] = useState<string>();
	const operators = useQuery({
		queryKey: ['operators'],
		staleTime: 60_000,
		queryFn: ({ signal }) => unwrap(api.GET('/v1/operators', { signal })),
	});
	const wallet = useQuery({ queryKey: ['wallet', 'balance'], queryFn: ({ signal }) => unwrap(api.GET('/v1/wallet', { signal })) });
	const detected = useDetected(type === 'prepaid' ? digitsOf(number) : undefined);
	const named = operator === 'auto' ? detected.data?.operator : operator;
	const circle = named !== undefined && named === detected.data?.operator ? detected.data.circle : undefined;
	const submission = useSubmission(async () => {
		const asked = amountOf(amount);
		if (asked === undefined) {
			throw wrong('amount', t('transactions.amount.wrong'));
		}
		setFailed(undefined);
		const { id, problem } = await recorded(
			api.POST('/v1/recharge', {
				body: {
					...(type === 'prepaid' ? { mobile: number.trim() } : { subscriber_id: number.trim() }),
					operator,
					amount: asked,
					type,
					ref_id: ref.trim(),
				} as never,
			}),
			'transaction_id',
		);
		invalidate('recharges', 'wallet', 'events', 'audit');
		if (!problem) {
			navigate(`/recharges/${id}`);
			return;
		}
		// It was recorded as failed, and the reference stands for it for ever.
		setFailed(id);
		setRef(freshRef('recharge'));
		throw problem;
	});
	const { problem, of } = submission;
	const choose = (chosen: Schemas['RechargeType']) => {
		setType(chosen);
		setOperator(chosen === 'prepaid' ? 'auto' : (operators.data?.data.find((one) => one.type === 'dth')?.name ?? ''));
	};
	return (
		<Page title={t('recharge.new')}>
			<div class="beside">
				<Card>
					<form onSubmit={submission.submit}>
						<Choice
							label={t('recharge.type')}
							value={type}
							options={[
								['prepaid', t('recharge.type.prepaid')],
								['dth', t('recharge.type.dth')],
							]}
							onChange={choose}
						/>
						<Field
							label={t(type === 'prepaid' ? 'recharge.mobile' : 'recharge.subscriber')}
							hint={t(type === 'prepaid' ? 'recharge.mobile.hint' : 'recharge.subscriber.hint')}
							problem={of('mobile') ?? of('subscriber_id')}
							inputMode="tel"
							autocomplete="off"
							maxLength={64}
							required
							value={number}
							onInput={(event) => setNumber(event.currentTarget.value)}
						/>
						{type === 'prepaid' && <Detected query={detected} />}
						<Select
							label={t('recharge.operator')}
							value={operator}
							options={[
								...(type === 'prepaid' ? [['auto', t('recharge.auto')] as const] : []),
								...(operators.data?.data ?? [])
									.filter((one) => one.type === type)
									.map((one) => [one.name, one.available ? one.name : t('recharge.unavailable', { name: one.name })] as const),
							]}
							onChange={setOperator}
						/>
						{of('operator') && <p class="wrong">{of('operator')}</p>}
						{named && <Plans operator={named} circle={circle} amount={amountOf(amount)} choose={(plan) => setAmount(String(plan))} />}
						<Field
							label={t('recharge.amount')}
							hint={wallet.data ? t('recharge.balance', { amount: rupees(wallet.data.available) }) : ''}
							problem={of('amount')}
							inputMode="decimal"
							autocomplete="off"
							required
							value={amount}
							onInput={(event) => setAmount(event.currentTarget.value)}
						/>
						<Reference value={ref} change={setRef} hint={t('recharge.ref.hint')} submission={submission} most={255} required />
						<Send submission={submission} fields={fields} text={t('recharge.send')}>
							{failed && (
								<p class="note">
									{t('recharge.recorded')} <Link href={`/recharges/${failed}`}>{t('recharge.story')}</Link>
									{problem?.code === 'insufficient_balance' && (
										<>
											{' · '}
											<Link href="/wallet">{t('recharge.towallet')}</Link>
										</>
									)}
								</p>
							)}
						</Send>
					</form>
				</Card>
				{type === 'prepaid' && <Values title={t('transactions.magic.title')} hint={t('recharge.magic')} values={magic} use={setNumber} />}
			</div>
		</Page>
	);
}
