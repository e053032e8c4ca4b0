import type { JSX } from 'preact';
import { number } from '../../format';
import { t } from '../../i18n';
import type { Kind } from './kind';

/** Part is a part of a bar. */
export interface Part {
	name: string;
	tone: 'good' | 'bad' | 'rest';
	count: number;
}

/** Shares is a bar of the parts of a whole. It is for the eyes: the counts stand beside it as text. */
export function Shares(props: { of: readonly Part[] }): JSX.Element {
	return (
		<div class="shares" aria-hidden="true">
			{props.of
				.filter(({ count }) => count > 0)
				.map(({ name, tone, count }) => (
					<span key={name} class={tone} style={{ flexGrow: count }} />
				))}
		</div>
	);
}

/** Counts is a list of parts with their counts, which names the colours and patterns of a bar. A rest of zero is left out. */
export function Counts(props: { of: readonly Part[] }): JSX.Element {
	const parts = props.of.filter(({ tone, count }) => tone !== 'rest' || count > 0);
	return (
		<ul class="counts">
			{parts.map(({ name, tone, count }) => (
				<li key={name} class={tone}>
					<strong>{number(count)}</strong> <span>{name}</span>
				</li>
			))}
		</ul>
	);
}

/**
 * Progress shows the progress and the results of a batch as a bar and as text. A verification of an account that does not
 * exist is answered, so the counts of verifications are about answers.
 */
export function Progress(props: {
	batch: { total: number; successful: number; failed: number; done: number };
	kind: Kind;
	small?: boolean;
}): JSX.Element {
	const { total, successful, failed, done } = props.batch;
	const words = t('batch.progress.words', { done: number(done), total: number(total) });
	const parts: Part[] = [
		{ name: t(`batch.part.good.${props.kind}`), tone: 'good', count: successful },
		{ name: t(`batch.failed.${props.kind}`), tone: 'bad', count: failed },
		{ name: t('batch.part.rest'), tone: 'rest', count: Math.max(0, total - done) },
	];
	return (
		<div class="progress">
			{!props.small && <Counts of={parts} />}
			<Shares of={parts} />
			<p class="hint">
				{words}
				{!props.small && ` · ${t(`batch.counts.${props.kind}`, { successful: number(successful), failed: number(failed) })}`}
			</p>
		</div>
	);
}
