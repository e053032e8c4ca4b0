export const account = {
	'account.title': 'Account',
};
