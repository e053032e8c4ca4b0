import type { JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import './combobox.css';

/** Choice is one suggestion of a combobox: what it is, and what stands beside it. */
export interface Choice {
	id: string;
	text: string;
	note?: string;
}

/**
 * Combobox is an input with suggestions, as WAI-ARIA has it: arrow keys move through them,
 * Enter takes one, or what was typed when none is marked, and Escape closes the list.
 */
export function Combobox(props: {
	label: string;
	hint?: string;
	choices: readonly Choice[];
	/** told is read out when it changes: how many choices there are, or why there are none. */
	told: string;
	/** wrong is what a refusal said about what was typed. */
	wrong?: string | undefined;
	onType: (text: string) => void;
	onChoose: (choice: Choice) => void;
	/** onEnter gets what was typed when no choice was marked. */
	onEnter: (text: string) => void;
}): JSX.Element {
	const { choices } = props;
	const id = useId();
	const [text, setText] = useState('');
	const [open, setOpen] = useState(false);
	const [marked, setMarked] = useState(-1);
	const list = useRef<HTMLDivElement>(null);
	const ids = choices.map((choice) => choice.id).join('\n');
	useEffect(() => setMarked(-1), [ids]);
	useEffect(() => {
		list.current?.children[marked]?.scrollIntoView({ block: 'nearest' });
	}, [marked]);
	const shown = open && choices.length > 0;
	const choose = (choice: Choice) => {
		setText('');
		setOpen(false);
		props.onType('');
		props.onChoose(choice);
	};
	const pressed = (event: KeyboardEvent) => {
		const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
		if (step !== 0 && choices.length > 0) {
			event.preventDefault();
			setOpen(true);
			// Beyond the last, and before the first, nothing is marked: that is the input itself.
			const places = choices.length + 1;
			setMarked(((marked + 1 + step + places) % places) - 1);
		} else if (event.key === 'Enter') {
			event.preventDefault();
			const choice = shown ? choices[marked] : undefined;
			if (choice) {
				choose(choice);
			} else if (text.trim()) {
				setOpen(true);
				props.onEnter(text.trim());
			}
		} else if (event.key === 'Escape') {
			if (shown) {
				event.preventDefault();
				setOpen(false);
				setMarked(-1);
			} else {
				setText('');
				props.onType('');
			}
		}
	};
	return (
		<div class="combobox field">
			<label for={id}>{props.label}</label>
			<div class="combobox-box">
				<input
					id={id}
					type="text"
					role="combobox"
					autocomplete="off"
					spellcheck={false}
					aria-autocomplete="list"
					aria-expanded={shown}
					aria-controls={`${id}-list`}
					aria-activedescendant={shown && marked >= 0 ? `${id}-${marked}` : undefined}
					aria-describedby={`${id}-hint ${id}-wrong`}
					aria-invalid={props.wrong ? true : undefined}
					value={text}
					onInput={(event) => {
						setText(event.currentTarget.value);
						setOpen(true);
						props.onType(event.currentTarget.value.trim());
					}}
					onKeyDown={pressed}
					onBlur={() => setOpen(false)}
					onFocus={() => setOpen(true)}
				/>
				<div id={`${id}-list`} ref={list} role="listbox" aria-label={props.label} class={shown ? 'options' : 'options shut'}>
					{choices.map((choice, index) => (
						// biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the input's, which keeps the focus
						<div
							key={choice.id}
							id={`${id}-${index}`}
							role="option"
							tabIndex={-1}
							aria-selected={index === marked}
							onMouseDown={(event) => event.preventDefault()}
							onClick={() => choose(choice)}
						>
							<span>{choice.text}</span>
							{choice.note && <span class="option-note">{choice.note}</span>}
						</div>
					))}
				</div>
			</div>
			{props.hint && (
				<p class="hint" id={`${id}-hint`}>
					{props.hint}
				</p>
			)}
			<p class="wrong" id={`${id}-wrong`} role="alert">
				{props.wrong}
			</p>
			<p class="unseen" role="status">
				{open ? props.told : ''}
			</p>
		</div>
	);
}
