import type { JSX } from 'preact';
import { number } from '../../format';
import { t } from '../../i18n';
import type { Kind } from './kind';

/**
 * Progress shows the progress of a batch as a bar and as text. A verification of an account that does not exist is
 * answered, so the counts of verifications are about answers.
 */
export function Progress(props: {
	batch: { total: number; successful: number; failed: number; done: number };
	kind: Kind;
	small?: boolean;
}): JSX.Element {
	const { total, successful, failed, done } = props.batch;
	const words = t('batch.progress.words', { done: number(done), total: number(total) });
	return (
		<div class="progress">
			<progress max={total} value={done} aria-label={words} />
			<p class={props.small ? 'hint' : ''}>
				{words}
				{!props.small && ` · ${t(`batch.counts.${props.kind}`, { successful: number(successful), failed: number(failed) })}`}
			</p>
		</div>
	);
}
