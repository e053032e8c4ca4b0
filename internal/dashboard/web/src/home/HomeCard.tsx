import type { ComponentChildren, JSX } from 'preact';
import { Link } from 'wouter-preact';
import { Card } from '../ui/Page';

/** HomeCard is a card of the home page: its title, a figure with one line about it, and a link at its foot. */
export function HomeCard(props: { title: string; to: string; link: string; children: ComponentChildren }): JSX.Element {
	return (
		<Card title={props.title}>
			{props.children}
			<p class="home-link">
				<Link href={props.to}>{props.link}</Link>
			</p>
		</Card>
	);
}

/** Figure is the main figure of a card, with its unit, and one line about it. */
export function Figure(props: { value: string; unit?: string; children?: ComponentChildren }): JSX.Element {
	return (
		<div class="home-figure">
			<p class="amount">
				{props.value}
				{props.unit && <span class="unit"> {props.unit}</span>}
			</p>
			{props.children && <p class="hint">{props.children}</p>}
		</div>
	);
}
