import type { air as en } from '../en/air';

export const air: Record<keyof typeof en, string> = {
	'air.title': 'हवा',
};
