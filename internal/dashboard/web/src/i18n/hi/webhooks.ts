import type { webhooks as en } from '../en/webhooks';

export const webhooks: Record<keyof typeof en, string> = {
	'webhooks.title': 'वेबहुक',
};
