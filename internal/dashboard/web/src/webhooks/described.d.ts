declare module 'virtual:event-types' {
	const types: import('./catalogue').Described[];
	export default types;
}
