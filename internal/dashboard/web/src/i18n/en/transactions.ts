export const transactions = {
	'transactions.title': 'Transactions',
};
