import { Component, type ComponentChildren, type ComponentType, type FunctionComponent, h } from 'preact';

/**
 * memo draws a component anew only when one of its properties is another. It stands in
 * for that of preact/compat, which once loaded makes every onChange an onInput: a filter
 * would do something else after a page that needs it was seen.
 */
export function memo<P extends object>(drawn: FunctionComponent<P>): ComponentType<P> {
	return class extends Component<P> {
		override shouldComponentUpdate(next: Readonly<P>): boolean {
			const [old, fresh] = [this.props as Record<string, unknown>, next as Record<string, unknown>];
			return [...Object.keys(old), ...Object.keys(fresh)].some((name) => old[name] !== fresh[name]);
		}

		override render(): ComponentChildren {
			return h(drawn, this.props as P);
		}
	};
}
