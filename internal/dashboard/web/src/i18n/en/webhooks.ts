export const webhooks = {
	'webhooks.title': 'Webhooks',
};
