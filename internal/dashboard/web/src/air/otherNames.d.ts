declare module 'virtual:city-names' {
	const names: Readonly<Record<string, readonly string[]>>;
	export default names;
}
