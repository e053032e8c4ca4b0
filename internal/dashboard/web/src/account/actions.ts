import type { Key } from '../i18n';

/** actions are the actions of the audit log that have a text. */
export const actions = [
	'account.create',
	'account.confirm',
	'account.erase',
	'account.plan',
	'account.allow_list',
	'account.name_tolerance',
	'key.create',
	'key.rotate',
	'key.revoke',
	'session.create',
	'session.end',
	'session.mode',
	'member.create',
	'member.role',
	'member.delete',
	'recharge.create',
	'recharge.batch',
	'recharge.success',
	'recharge.failed',
	'recharge.refund',
	'recharge.refunded',
	'verification.create',
	'verification.batch',
	'verification.success',
	'verification.failed',
	'payment.create',
	'payment.success',
	'payment.failed',
	'webhook.create',
	'webhook.update',
	'webhook.delete',
	'webhook.rotate',
	'webhook.test',
	'delivery.retry',
	'alert.create',
	'alert.update',
	'alert.delete',
	'alert.test',
	'readings.withdraw',
	'readings.reinstate',
	'station.register',
] as const;

/** actionGroups are the prefixes of actions by which the page filters, each with its text. */
export const actionGroups = [
	['account.', 'account.title'],
	['key.', 'shell.keys'],
	['session.', 'shell.sessions'],
	['member.', 'shell.members'],
	['recharge.', 'shell.recharges'],
	['verification.', 'shell.verifications'],
	['payment.', 'shell.wallet'],
	['webhook.', 'shell.webhooks'],
	['delivery.', 'shell.deliveries'],
	['alert.', 'shell.alerts'],
	['readings.', 'account.audit.readings'],
	['station.', 'account.audit.stations'],
] as const satisfies readonly (readonly [string, Key])[];

/** actionText returns the text of an action; undefined for an action that has none. */
export function actionText(action: string): Key | undefined {
	const known = actions.find((one) => one === action);
	return known && `account.action.${known}`;
}
