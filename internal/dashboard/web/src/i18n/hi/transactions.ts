import type { transactions as en } from '../en/transactions';

export const transactions: Record<keyof typeof en, string> = {
	'transactions.title': 'लेन-देन',
};
