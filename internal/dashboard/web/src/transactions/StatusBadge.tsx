import type { JSX } from 'preact';
import type { Schemas } from '../api/client';
import { t } from '../i18n';
import { sessionState } from '../session';
import { Badge, type Tone } from '../ui/Badge';

const rechargeTones: Record<Schemas['RechargeState'], Tone> = { pending: 'busy', success: 'good', failed: 'bad', refunded: 'warn' };

/** RechargeBadge shows the status of a recharge. */
export function RechargeBadge(props: { state: Schemas['RechargeState'] }): JSX.Element {
	return <Badge tone={rechargeTones[props.state]}>{t(`recharge.state.${props.state}`)}</Badge>;
}

const matchTones: Record<NonNullable<Schemas['Verification']['name_match']>, Tone> = { exact: 'good', partial: 'warn', none: 'bad' };

/** MatchBadge shows how well the name that the bank returned matches the name of the request. */
export function MatchBadge(props: { of: NonNullable<Schemas['Verification']['name_match']> }): JSX.Element {
	return <Badge tone={matchTones[props.of]}>{t(`verify.match.${props.of}`)}</Badge>;
}

/** VerificationBadge shows the result of a verification. A verified account of another name, or a flagged one, is not plainly good. */
export function VerificationBadge(props: {
	of: Pick<Schemas['Verification'], 'status' | 'verified' | 'error' | 'name_match' | 'suspicious'>;
}): JSX.Element {
	const { status, verified, error, name_match, suspicious } = props.of;
	if (status === 'success') {
		return (
			<Badge tone={verified && name_match !== 'none' && !suspicious ? 'good' : 'warn'}>{t(verified ? 'verify.yes' : 'verify.no')}</Badge>
		);
	}
	if (error?.code === 'account_not_found' || error?.code === 'vpa_not_found') {
		return <Badge tone="bad">{t('verify.state.absent')}</Badge>;
	}
	return <Badge tone={status === 'pending' ? 'busy' : 'bad'}>{t(`verify.state.${status}`)}</Badge>;
}

const batchTones: Record<Schemas['VerificationBatchState'], Tone> = {
	queued: 'quiet',
	processing: 'busy',
	completed: 'good',
	expired: 'quiet',
};

/** BatchBadge shows the status of a batch. */
export function BatchBadge(props: { state: Schemas['VerificationBatchState'] }): JSX.Element {
	return <Badge tone={batchTones[props.state]}>{t(`batch.state.${props.state}`)}</Badge>;
}

const paymentTones: Record<Schemas['PaymentState'], Tone> = { pending: 'busy', success: 'good', failed: 'bad' };

/** PaymentBadge shows the status of a payment into the wallet. */
export function PaymentBadge(props: { state: Schemas['PaymentState'] }): JSX.Element {
	return <Badge tone={paymentTones[props.state]}>{t(`wallet.payment.${props.state}`)}</Badge>;
}

/** isSandbox reports whether the session's key is a sandbox key. */
export function isSandbox(): boolean {
	const now = sessionState.value;
	return now.at === 'in' && now.current.mode === 'sandbox';
}
