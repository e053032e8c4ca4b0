import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ago, hour, instant } from '../format';
import { t } from '../i18n';
import { Breakable } from './Breakable';
import { useNow } from './useNow';

/**
 * Time shows a time in the zone of the page, with seconds if `exact` is true. Its title is the value of the API. A relative
 * time of the past is not after now, even if the clock of the service is ahead.
 */
export function Time(props: { at: string | null | undefined; relative?: boolean | 'past'; exact?: boolean }): JSX.Element {
	if (!props.at) {
		return <span class="absent">–</span>;
	}
	return (
		<time dateTime={props.at} title={props.at}>
			{props.relative ? <Ago at={props.at} past={props.relative === 'past'} /> : props.exact ? instant(props.at) : hour(props.at)}
		</time>
	);
}

function Ago(props: { at: string; past: boolean }): JSX.Element {
	const now = useNow();
	const ahead = Date.parse(props.at) > now.getTime();
	return <>{ago(props.past && ahead ? now.toISOString() : props.at, now)}</>;
}

/** Tone is the severity of a state. Its colour never stands without a text. */
export type Tone = 'good' | 'busy' | 'bad' | 'warn' | 'quiet';

/** Badge is a label with a tone. */
export function Badge(props: { tone: Tone; children: string }): JSX.Element {
	return <span class={`badge ${props.tone}`}>{props.children}</span>;
}

/**
 * StateBadge is the badge of a state of the API. A newer service can have states that this page does not know. Their badge
 * has the name of the API.
 */
export function StateBadge<State extends string>(props: {
	state: State;
	tones: Readonly<Record<State, Tone>>;
	text: (state: State) => string;
}): JSX.Element {
	const { state, tones, text } = props;
	return state in tones ? <Badge tone={tones[state]}>{text(state)}</Badge> : <Badge tone="quiet">{state}</Badge>;
}

/**
 * Copy is a button that copies a value and reports the result. A function returns the value at the time of the click.
 * tone is the class of the button. copied is called after each success. Browsers allow copying only on https pages and
 * on localhost.
 */
export function Copy(props: { value: string | (() => string); name?: string; tone?: string; copied?: () => void }): JSX.Element {
	const [says, setSays] = useState('');
	const copy = async () => {
		try {
			await navigator.clipboard.writeText(typeof props.value === 'string' ? props.value : props.value());
			setSays(t('action.copied'));
			props.copied?.();
		} catch {
			setSays(t('action.copy.not'));
		}
		setTimeout(() => setSays(''), 2500);
	};
	return (
		<>
			<button type="button" class={props.tone ?? 'small'} onClick={() => void copy()}>
				{says || props.name || t('action.copy')}
			</button>
			<span class="unseen" role="status">
				{says}
			</span>
		</>
	);
}

/** CopyableText shows a value with a button that copies it. */
export function CopyableText(props: { value: string }): JSX.Element {
	return (
		<span class="copyable">
			<code>
				<Breakable of={props.value} />
			</code>
			<Copy value={props.value} />
		</span>
	);
}
