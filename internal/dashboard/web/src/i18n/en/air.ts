export const air = {
	'air.title': 'Air',
};
