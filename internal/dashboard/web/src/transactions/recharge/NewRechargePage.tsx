import { useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { api, Problem, type Schemas, unwrap } from '../../api/client';
import { invalidate } from '../../api/queries';
import { rupees } from '../../format';
import { t } from '../../i18n';
import { Field, Radios, Select } from '../../ui/Field';
import { Form } from '../../ui/Form';
import { Card, Facts, Page } from '../../ui/Page';
import { useConfirmation } from '../../ui/useConfirmation';
import { amountOf, recorded } from '../recorded';
import { freshRef } from '../ref';
import { type SandboxValues, Values } from '../SandboxValues';
import { isSandbox } from '../StatusBadge';
import { useBalance } from '../wallet/useBalance';
import { Detected, useDetected } from './DetectedOperator';
import { digitsOf } from './digits';
import { Plans } from './Plans';
import '../transactions.css';

const magic: readonly SandboxValues[] = (['1', '2', '3', '4', '5', '6', '7', '8', '9'] as const).map((last) => ({
	value: `900000000${last}`,
	says: `recharge.magic.${last}`,
}));

/** limits are the least and the largest amount of a recharge in rupees, as in the API. */
const limits = { least: 10, most: 10_000 } as const;

/** shortfall returns how much the wallet lacks for a recharge with real money, in rupees; undefined if it covers it. */
function shortfall(amount: number | undefined, wallet: Schemas['Wallet'] | undefined): number | undefined {
	if (isSandbox() || amount === undefined || !wallet || amount <= wallet.available) {
		return undefined;
	}
	return Math.round((amount - wallet.available) * 100) / 100;
}

/**
 * NewRechargePage sends one recharge. Its reference stays the same until the API has recorded a recharge under
 * it. A retry after a lost reply therefore cannot recharge twice.
 */
export function NewRechargePage(): JSX.Element {
	const [, navigate] = useLocation();
	const [type, setType] = useState<Schemas['RechargeType']>('prepaid');
	const [number, setNumber] = useState('');
	const [operator, setOperator] = useState('auto');
	const [amount, setAmount] = useState('');
	const [ref, setRef] = useState(() => freshRef('recharge'));
	const [failed, setFailed] = useState<{ id: string; problem: Problem }>();
	const operators = useQuery({
		queryKey: ['operators'],
		staleTime: 60_000,
		queryFn: ({ signal }) => unwrap(api.GET('/v1/operators', { signal })),
	});
	const wallet = useBalance();
	const detected = useDetected(type === 'prepaid' ? digitsOf(number) : undefined);
	const named = operator === 'auto' ? detected.data?.operator : operator;
	const circle = named !== undefined && named === detected.data?.operator ? detected.data.circle : undefined;
	const [confirm, question] = useConfirmation();
	const short = shortfall(amountOf(amount), wallet.data);
	/** confirmed reports whether the person agrees to a recharge with real money. */
	const confirmed = (sum: number) =>
		confirm({
			title: t('recharge.confirm'),
			content: (
				<>
					<p>{t('transactions.confirm.live')}</p>
					<Summary of={{ type, number: number.trim(), operator, found: named, amount: sum, wallet: wallet.data }} />
				</>
			),
			button: t('recharge.confirm.do', { amount: rupees(sum) }),
		});
	const send = async () => {
		const sum = amountOf(amount);
		if (sum === undefined || sum < limits.least || sum > limits.most) {
			// The API reports an amount out of range only after the number is right.
			const wrong = type === 'prepaid' && digitsOf(number) === undefined;
			throw Problem.atFields({
				...(wrong && { mobile: t('recharge.mobile.wrong') }),
				amount: t(sum === undefined ? 'transactions.amount.wrong' : 'batch.wrong.amount'),
			});
		}
		if (!isSandbox() && !(await confirmed(sum))) {
			return;
		}
		setFailed(undefined);
		const { id, problem } = await recorded(
			api.POST('/v1/recharge', {
				body: {
					...(type === 'prepaid' ? { mobile: number.trim() } : { subscriber_id: number.trim() }),
					operator,
					amount: sum,
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
		// The failed recharge keeps the reference permanently, so another recharge needs a new one.
		setFailed({ id, problem });
		setRef(freshRef('recharge'));
		throw problem;
	};
	const choose = (chosen: Schemas['RechargeType']) => {
		setType(chosen);
		setOperator(chosen === 'prepaid' ? 'auto' : (operators.data?.data.find((one) => one.type === 'dth')?.name ?? ''));
	};
	return (
		<Page title={t('recharge.new')}>
			{question}
			<div class="beside">
				<Card class="new-form">
					<Form submit={send} button={t('recharge.send')} tone="primary" disabled={short !== undefined}>
						<Radios
							label={t('recharge.type')}
							value={type}
							options={[
								['prepaid', t('recharge.type.prepaid')],
								['dth', t('recharge.type.dth')],
							]}
							change={choose}
						/>
						<div class="pair">
							<Field
								label={t(type === 'prepaid' ? 'recharge.mobile' : 'recharge.subscriber')}
								hint={t(type === 'prepaid' ? 'recharge.mobile.hint' : 'recharge.subscriber.hint')}
								name={type === 'prepaid' ? 'mobile' : 'subscriber_id'}
								inputMode="tel"
								maxLength={64}
								required
								value={number}
								change={setNumber}
							/>
							<div>
								<Select
									label={t('recharge.operator')}
									name="operator"
									value={operator}
									options={[
										...(type === 'prepaid' ? [['auto', t('recharge.auto')] as const] : []),
										...(operators.data?.data ?? [])
											.filter((one) => one.type === type)
											.map((one) => [one.name, one.available ? one.name : t('recharge.unavailable', { name: one.name })] as const),
									]}
									change={setOperator}
								/>
								{type === 'prepaid' && <Detected query={detected} />}
							</div>
						</div>
						{named && <Plans operator={named} circle={circle} amount={amountOf(amount)} choose={(plan) => setAmount(String(plan))} />}
						<div class="pair">
							<Field
								label={t('recharge.amount')}
								hint={wallet.data ? t('recharge.balance', { amount: rupees(wallet.data.available) }) : ''}
								name="amount"
								inputMode="decimal"
								required
								value={amount}
								change={setAmount}
							/>
							<Field
								label={t('transactions.ref')}
								hint={t('recharge.ref.hint')}
								name="ref_id"
								maxLength={255}
								required
								value={ref}
								change={setRef}
							/>
						</div>
						<div class={short === undefined ? 'unseen' : 'shortfall'} role="status">
							{short !== undefined && wallet.data && <Shortfall available={wallet.data.available} missing={short} />}
						</div>
						{failed && (
							<p class="note">
								{t('recharge.recorded')} <Link href={`/recharges/${failed.id}`}>{t('recharge.timeline')}</Link>
								{failed.problem.code === 'insufficient_balance' && (
									<>
										{' · '}
										<Link href="/wallet">{t('recharge.towallet')}</Link>
									</>
								)}
							</p>
						)}
					</Form>
				</Card>
				<div class="aside">
					<Card title={t('recharge.summary')} class="as-entered">
						<Summary of={{ type, number: number.trim(), operator, found: named, amount: amountOf(amount), wallet: wallet.data }} />
					</Card>
					{type === 'prepaid' && <Values title={t('transactions.magic.title')} hint={t('recharge.magic')} values={magic} use={setNumber} />}
				</div>
			</div>
		</Page>
	);
}

/** Shortfall says what the wallet lacks for a recharge, and what to do next. */
function Shortfall(props: { available: number; missing: number }): JSX.Element {
	const amounts = { available: rupees(props.available), missing: rupees(props.missing) };
	return (
		<>
			<p>
				<strong>{t('recharge.short', amounts)}</strong>
			</p>
			<p>{t(props.available < limits.least ? 'recharge.short.next' : 'recharge.short.less', amounts)}</p>
			<Link href="/wallet" class="primary">
				{t('recharge.towallet')}
			</Link>
		</>
	);
}

/** Summary shows what a recharge will do, and what it leaves in the wallet or what the wallet lacks. */
function Summary(props: {
	of: {
		type: Schemas['RechargeType'];
		number: string;
		operator: string;
		found: string | undefined;
		amount: number | undefined;
		wallet: Schemas['Wallet'] | undefined;
	};
}): JSX.Element {
	const { type, number, operator, found, amount, wallet } = props.of;
	const lacks = shortfall(amount, wallet);
	const rest = wallet && amount !== undefined && wallet.available >= amount ? wallet.available - amount : undefined;
	return (
		<div class="aligned summary">
			<Facts
				of={[
					[t('recharge.number'), (type === 'prepaid' ? digitsOf(number) !== undefined : /^\d{8,12}$/.test(number)) ? number : '–'],
					[t('recharge.operator'), found ?? (operator === 'auto' ? t('recharge.detected.later') : operator || '–')],
					[t('transactions.amount'), amount === undefined ? '–' : <strong key="amount">{rupees(amount)}</strong>],
					[t('recharge.available'), wallet && rupees(wallet.available)],
					[t('recharge.missing'), lacks !== undefined && <span class="missing">{rupees(lacks)}</span>],
					[t('recharge.available.after'), rest !== undefined && rupees(Math.round(rest * 100) / 100)],
				]}
			/>
		</div>
	);
}
