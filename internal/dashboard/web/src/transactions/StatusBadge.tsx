import type { JSX } from 'preact';
import type { Schemas } from '../api/client';
import { t } from '../i18n';
import { sessionState } from '../session';
import { StateBadge, type Tone } from '../ui/Badge';

const rechargeTones: Record<Schemas['RechargeState'], Tone> = { pending: 'busy', success: 'good', failed: 'bad', refunded: 'warn' };

/** RechargeBadge shows the status of a recharge. */
export function RechargeBadge(props: { state: Schemas['RechargeState'] }): JSX.Element {
	return <StateBadge state={props.state} tones={rechargeTones} text={(state) => t(`recharge.state.${state}`)} />;
}

/** rechargeTone returns the tone of the status of a recharge. */
export function rechargeTone(state: Schemas['RechargeState']): Tone {
	return rechargeTones[state] ?? 'quiet';
}

const matchTones: Record<NonNullable<Schemas['Verification']['name_match']>, Tone> = { exact: 'good', partial: 'warn', none: 'bad' };

/** matchOf returns how well the names match; undefined if no name was sent, as of a verified account whose match is "none". */
export function matchOf(of: Pick<Schemas['Verification'], 'verified' | 'name_match'>): Schemas['Verification']['name_match'] {
	return of.verified && of.name_match === 'none' ? undefined : of.name_match;
}

/** MatchBadge shows how well the name that the bank returned matches the name of the request. */
export function MatchBadge(props: { of: NonNullable<Schemas['Verification']['name_match']> }): JSX.Element {
	return <StateBadge state={props.of} tones={matchTones} text={(match) => t(`verify.match.${match}`)} />;
}

type Result = Pick<Schemas['Verification'], 'status' | 'verified' | 'error' | 'suspicious'>;

const verificationTones: Record<Result['status'], Tone> = { pending: 'busy', success: 'good', failed: 'bad' };

/** verificationTone returns the tone of a result. An account that is not verified, or is flagged, gets "warn". */
export function verificationTone({ status, verified, suspicious }: Result): Tone {
	return status === 'success' && (!verified || suspicious) ? 'warn' : (verificationTones[status] ?? 'quiet');
}

/** VerificationBadge shows the result of a verification, in the words of the totals. */
export function VerificationBadge(props: { of: Result }): JSX.Element {
	const { status, verified, error } = props.of;
	const absent = error?.code === 'account_not_found' || error?.code === 'vpa_not_found';
	const text = (known: Result['status']) =>
		known === 'success' ? t(verified ? 'verify.yes' : 'verify.no') : t(absent ? 'verify.state.absent' : `verify.state.${known}`);
	return <StateBadge state={status} tones={{ ...verificationTones, success: verificationTone(props.of) }} text={text} />;
}

const batchTones: Record<Schemas['VerificationBatchState'], Tone> = {
	queued: 'quiet',
	processing: 'busy',
	completed: 'good',
	expired: 'quiet',
};

/** BatchBadge shows the status of a batch. */
export function BatchBadge(props: { state: Schemas['VerificationBatchState'] }): JSX.Element {
	return <StateBadge state={props.state} tones={batchTones} text={(state) => t(`batch.state.${state}`)} />;
}

const paymentTones: Record<Schemas['PaymentState'], Tone> = { pending: 'busy', success: 'good', failed: 'bad' };

/** PaymentBadge shows the status of a payment into the wallet. */
export function PaymentBadge(props: { state: Schemas['PaymentState'] }): JSX.Element {
	return <StateBadge state={props.state} tones={paymentTones} text={(state) => t(`wallet.payment.${state}`)} />;
}

/** isSandbox reports whether the session's key is a sandbox key. */
export function isSandbox(): boolean {
	const now = sessionState.value;
	return now.at === 'in' && now.current.mode === 'sandbox';
}
