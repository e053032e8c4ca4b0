import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ago, instant } from '../format';
import { t } from '../i18n';

/** Time shows a moment in India, and in its title when that was in UTC. */
export function Time(props: { at: string | null | undefined; relative?: boolean }): JSX.Element {
	if (!props.at) {
		return <span>–</span>;
	}
	return (
		<time dateTime={props.at} title={props.at}>
			{props.relative ? ago(props.at, new Date()) : instant(props.at)}
		</time>
	);
}

/** Tone is what a state means to a person; its word stands beside its colour. */
export type Tone = 'good' | 'busy' | 'bad' | 'warn' | 'quiet';

/** Badge is a word with a tone. */
export function Badge(props: { tone: Tone; children: string }): JSX.Element {
	return <span class={`badge ${props.tone}`}>{props.children}</span>;
}

/** Copyable is a value that people carry elsewhere, with a button that copies it. */
export function Copyable(props: { value: string }): JSX.Element {
	const [copied, setCopied] = useState(false);
	const copy = async () => {
		await navigator.clipboard.writeText(props.value);
		setCopied(true);
		setTimeout(() => setCopied(false), 1500);
	};
	return (
		<span class="copyable">
			<code>{props.value}</code>
			<button type="button" class="small" onClick={copy}>
				{copied ? t('action.copied') : t('action.copy')}
			</button>
			<span class="unseen" role="status">
				{copied ? t('action.copied') : ''}
			</span>
		</span>
	);
}
