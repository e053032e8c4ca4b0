import Navigation from '@github/combobox-nav';
import type { JSX } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import './combobox.css';

/** Choice is one suggestion of a combobox. note is shown beside its text. */
export interface Choice {
	id: string;
	text: string;
	note?: string;
}

/**
 * Combobox is an input with suggestions that follows the WAI-ARIA pattern. Arrow keys select one, Enter chooses
 * it or submits the text, and Escape closes the list. @github/combobox-nav selects, scrolls and handles input
 * methods.
 */
export function Combobox(props: {
	label: string;
	hint?: string;
	choices: readonly Choice[];
	/** announcement is announced to screen readers when it changes: the number of suggestions, or why there are none. */
	announcement: string;
	/** wrong is the error message about the text. */
	wrong?: string | undefined;
	onType: (text: string) => void;
	onChoose: (choice: Choice) => void;
	/** onEnter gets the text if no suggestion is selected. */
	onEnter: (text: string) => void;
}): JSX.Element {
	const { choices } = props;
	const id = useId();
	const [text, setText] = useState('');
	const [open, setOpen] = useState(false);
	const input = useRef<HTMLInputElement>(null);
	const list = useRef<HTMLDivElement>(null);
	const navigation = useRef<Navigation>();
	const ids = choices.map((choice) => choice.id).join('\n');
	const shown = open && choices.length > 0;
	useLayoutEffect(() => {
		if (input.current && list.current) {
			navigation.current = new Navigation(input.current, list.current, { tabInsertsSuggestions: false });
		}
		return () => navigation.current?.destroy();
	}, []);
	useLayoutEffect(() => {
		if (shown) {
			navigation.current?.start();
		} else {
			navigation.current?.stop();
		}
	}, [shown]);
	useLayoutEffect(() => navigation.current?.clearSelection(), [ids]);
	const choose = (choice: Choice) => {
		setText('');
		setOpen(false);
		props.onType('');
		props.onChoose(choice);
	};
	const pressed = (event: KeyboardEvent) => {
		if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
			setOpen(true);
		} else if (event.key === 'Enter' && !event.isComposing && !input.current?.hasAttribute('aria-activedescendant')) {
			event.preventDefault();
			if (text.trim()) {
				setOpen(true);
				props.onEnter(text.trim());
			}
		} else if (event.key === 'Escape' && shown) {
			event.preventDefault();
			setOpen(false);
		} else if (event.key === 'Escape') {
			setText('');
			props.onType('');
		}
	};
	return (
		<div class="combobox field">
			<label for={id}>{props.label}</label>
			{/* Above the input: the list covers what is below it. */}
			<p class="wrong" id={`${id}-wrong`} role="alert">
				{props.wrong}
			</p>
			<div class="combobox-box">
				<input
					ref={input}
					id={id}
					type="text"
					autocomplete="off"
					spellcheck={false}
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
			<p class="unseen" role="status">
				{open ? props.announcement : ''}
			</p>
		</div>
	);
}
