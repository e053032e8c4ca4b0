import { Fragment, type JSX } from 'preact';

const parts = /^\w+:\/\/|[^/.?&=_]+[/.?&=_]*|[/.?&=_]+/g;

/** Breakable shows an id, a name of programs or a URL. A line ends after a separator, and not before it. */
export function Breakable(props: { of: string }): JSX.Element {
	return (
		<>
			{(props.of.match(parts) ?? []).map((part, n) => (
				<Fragment key={n}>
					{n > 0 && <wbr />}
					{part}
				</Fragment>
			))}
		</>
	);
}
