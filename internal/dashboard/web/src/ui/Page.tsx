import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/**
 * Page is the frame of a page: its title, which gets the focus for screen readers, its actions and its content. heading
 * shows the title in another form than as plain text.
 */
export function Page(props: {
	title: string;
	heading?: ComponentChildren;
	actions?: ComponentChildren;
	children: ComponentChildren;
}): JSX.Element {
	const heading = useRef<HTMLHeadingElement>(null);
	useEffect(() => {
		document.title = `${props.title} · Vayu`;
	}, [props.title]);
	useEffect(() => heading.current?.focus(), []);
	return (
		<>
			<header class="page-head">
				<h1 ref={heading} tabIndex={-1}>
					{props.heading ?? props.title}
				</h1>
				{props.actions && <div class="actions">{props.actions}</div>}
			</header>
			{props.children}
		</>
	);
}

/** Card is a section of a page with a heading. */
export function Card(props: { title?: string; actions?: ComponentChildren; children: ComponentChildren; class?: string }): JSX.Element {
	return (
		<section class={`card ${props.class ?? ''}`}>
			{(props.title || props.actions) && (
				<header class="card-head">
					{props.title && <h2>{props.title}</h2>}
					{props.actions}
				</header>
			)}
			{props.children}
		</section>
	);
}

/** Facts is a list of names and values. Missing values are omitted: undefined, null, false and the empty text. */
export function Facts(props: { of: readonly (readonly [string, ComponentChildren])[] }): JSX.Element {
	return (
		<dl class="facts">
			{props.of
				.filter(([, value]) => value !== undefined && value !== null && value !== false && value !== '')
				.map(([name, value]) => (
					<div key={name}>
						<dt>{name}</dt>
						<dd>{value}</dd>
					</div>
				))}
		</dl>
	);
}
