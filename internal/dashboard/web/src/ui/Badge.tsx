import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ago, instant } from '../format';
import { t } from '../i18n';
import { useNow } from './useNow';

/** Time shows a moment in India, and in its title when that was in UTC. */
export function Time(props: { at: string | null | undefined; relative?: boolean }): JSX.Element {
	if (!props.at) {
		return <span>–</span>;
	}
	return (
		<time dateTime={props.at} title={props.at}>
			{props.relative ? <Ago at={props.at} /> : instant(props.at)}
		</time>
	);
}

function Ago(props: { at: string }): JSX.Element {
	return <>{ago(props.at, useNow())}</>;
}

/** Tone is what a state means to a person; its word stands beside its colour. */
export type Tone = 'good' | 'busy' | 'bad' | 'warn' | 'quiet';

/** Badge is a word with a tone. */
export function Badge(props: { tone: Tone; children: string }): JSX.Element {
	return <span class={`badge ${props.tone}`}>{props.children}</span>;
}

/** Copy is a button that copies a value, and says whether it did: a browser lets only pages of https, or of this machine, do it. */
export function Copy(props: { value: string; name?: string }): JSX.Element {
	const [says, setSays] = useState('');
	const copy = async () => {
		try {
			await navigator.clipboard.writeText(props.value);
			setSays(t('action.copied'));
		} catch {
			setSays(t('action.copy.not'));
		}
		setTimeout(() => setSays(''), 2500);
	};
	return (
		<>
			<button type="button" class="small" onClick={() => void copy()}>
				{says || props.name || t('action.copy')}
			</button>
			<span class="unseen" role="status">
				{says}
			</span>
		</>
	);
}

/** CopyableText is a value that people carry elsewhere, with a button that copies it. */
export function CopyableText(props: { value: string }): JSX.Element {
	return (
		<span class="copyable">
			<code>{props.value}</code>
			<Copy value={props.value} />
		</span>
	);
}
