declare module 'virtual:india' {
	const outlines: import('../../outlines').Outline[];
	export default outlines;
}
