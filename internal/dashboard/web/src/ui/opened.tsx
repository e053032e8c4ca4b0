import { Component, type ComponentChildren, type ComponentType, h, type JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Problem } from '../api/client';
import { Failed, Loading } from './FetchState';

// A part of the page that could not be fetched, or whose service has been replaced by
// another version since, is there after a reload and not before.
const reload = () => location.reload();

/** Guard shows what went wrong in place of a page that cannot be drawn; the navigation around it stays. */
export class Guard extends Component<{ children: ComponentChildren }, { broken: boolean }> {
	override state = { broken: false };

	override componentDidCatch(error: unknown): void {
		console.error(error);
		this.setState({ broken: true });
	}

	override render(): ComponentChildren {
		return this.state.broken ? <Failed error={new Problem(500, undefined)} again={reload} /> : this.props.children;
	}
}

/** Opened is a page, or a part of one, whose module is fetched when it is shown for the first time. */
export function Opened<P extends object>(props: { load: () => Promise<ComponentType<P>>; parameters: P }): JSX.Element {
	const [page, setPage] = useState<{ Shown?: ComponentType<P>; error?: unknown }>({});
	const { load } = props;
	useEffect(() => {
		let left = false;
		load().then(
			(Shown) => left || setPage({ Shown }),
			(error: unknown) => left || setPage({ error }),
		);
		return () => {
			left = true;
		};
	}, [load]);
	if (page.error !== undefined) {
		return <Failed error={page.error} again={reload} />;
	}
	return page.Shown ? h(page.Shown as ComponentType<object>, props.parameters) : <Loading />;
}
