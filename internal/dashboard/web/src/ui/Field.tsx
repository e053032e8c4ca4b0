import type { ComponentChildren, JSX } from 'preact';
import { useId, useState } from 'preact/hooks';
import { useFieldError } from './Form';
import './field.css';

/** Labelled is a control with its label, a hint, and its error message. */
function Labelled(props: {
	label: string;
	hint?: string | undefined;
	name?: string | undefined;
	/** class is the CSS class of the whole field. */
	class?: string | undefined;
	/** wrong is an error that the page itself reports. */
	wrong?: string | undefined;
	/** describedBy is the id of a text elsewhere that is about the field. */
	describedBy?: string | undefined;
	children: (control: { id: string; 'aria-invalid': true | undefined; 'aria-describedby': string }) => JSX.Element;
}): JSX.Element {
	const id = useId();
	const reported = useFieldError(props.name, props.label);
	const error = props.wrong ?? reported;
	return (
		<div class={`field ${props.class ?? ''}`}>
			<label for={id}>{props.label}</label>
			{props.children({
				id,
				'aria-invalid': error ? true : undefined,
				'aria-describedby': `${props.describedBy ?? `${id}-hint`} ${id}-error`,
			})}
			<p class="hint" id={`${id}-hint`}>
				{props.hint}
			</p>
			<p class="wrong" id={`${id}-error`}>
				{error}
			</p>
		</div>
	);
}

/** Field is a labelled input. name is the field of the API whose errors it shows. */
export function Field(
	props: {
		label: string;
		hint?: string;
		describedBy?: string | undefined;
		name?: string;
		wrong?: string | undefined;
		value: string;
		change: (value: string) => void;
	} & Omit<JSX.IntrinsicElements['input'], 'id' | 'label' | 'name' | 'value'>,
): JSX.Element {
	const { label, hint, describedBy, name, wrong, change, ...input } = props;
	return (
		<Labelled label={label} hint={hint} describedBy={describedBy} name={name} wrong={wrong}>
			{(control) => (
				<input autocomplete="off" spellcheck={false} {...input} {...control} onInput={(event) => change(event.currentTarget.value)} />
			)}
		</Labelled>
	);
}

/** EmailField is the field `email` of the API. */
export function EmailField(props: {
	label: string;
	hint: string;
	autocomplete?: string;
	value: string;
	change: (value: string) => void;
}): JSX.Element {
	return <Field name="email" type="email" required maxLength={254} {...props} />;
}

/** TextArea is a labelled field of several lines for text of a program. */
export function TextArea(props: {
	label: string;
	hint?: string;
	rows: number;
	placeholder?: string;
	value: string;
	change: (value: string) => void;
}): JSX.Element {
	const { label, hint, change, ...area } = props;
	return (
		<Labelled label={label} hint={hint}>
			{(control) => <textarea spellcheck={false} {...area} {...control} onInput={(event) => change(event.currentTarget.value)} />}
		</Labelled>
	);
}

/** Filter is a field that applies its text on leaving it or on Enter. Until then a render keeps the typed text. */
export function Filter(props: {
	label: string;
	type?: 'text' | 'date' | 'month' | 'number' | 'search';
	value: string | undefined;
	apply: (value: string) => void;
	placeholder?: string;
	hint?: string;
	describedBy?: string;
	wrong?: string | undefined;
	maxLength?: number;
	inputMode?: 'decimal';
	/** min and max limit a date, a month or a number. */
	min?: string;
	max?: string;
}): JSX.Element {
	const { value, apply, ...input } = props;
	const [typed, setTyped] = useState<string>();
	return (
		<Field
			{...input}
			value={typed ?? value ?? ''}
			change={setTyped}
			// preact/compat turns onChange of an input into onInput. The capturing handler keeps the native change
			// event.
			onChangeCapture={(event) => {
				setTyped(undefined);
				apply(event.currentTarget.value.trim());
			}}
		/>
	);
}

/** Select is a labelled drop-down list. */
export function Select<V extends string>(props: {
	label: string;
	name?: string;
	/** class is the CSS class of the whole field. */
	class?: string;
	value: V;
	options: readonly (readonly [value: V, text: string])[];
	disabled?: boolean;
	change: (value: V) => void;
}): JSX.Element {
	return (
		<Labelled label={props.label} name={props.name} class={props.class}>
			{(control) => (
				<select
					{...control}
					disabled={props.disabled}
					value={props.value}
					onChange={(event) => props.change(event.currentTarget.value as V)}
				>
					{props.options.map(([value, text]) => (
						<option key={value} value={value}>
							{text}
						</option>
					))}
				</select>
			)}
		</Labelled>
	);
}

/** Group is a fieldset with a legend. name is the field of the API whose errors it shows. */
export function Group(props: { legend: string; name?: string; class?: string; children: ComponentChildren }): JSX.Element {
	const id = useId();
	const error = useFieldError(props.name, props.legend);
	return (
		<fieldset class={props.class} tabIndex={-1} data-invalid={error ? true : undefined} aria-describedby={`${id}-error`}>
			<legend>{props.legend}</legend>
			<p class="wrong" id={`${id}-error`} role="alert">
				{error}
			</p>
			{props.children}
		</fieldset>
	);
}

/** Radios is a group of radio buttons. */
export function Radios<V extends string>(props: {
	label: string;
	value: V;
	options: readonly (readonly [value: V, text: ComponentChildren])[];
	change: (value: V) => void;
	hint?: string;
}): JSX.Element {
	const name = useId();
	return (
		<Group legend={props.label} class="radios">
			{props.options.map(([value, text]) => (
				<label key={value}>
					<input type="radio" name={name} value={value} checked={value === props.value} onChange={() => props.change(value)} />
					<span>{text}</span>
				</label>
			))}
			{props.hint && <p class="hint">{props.hint}</p>}
		</Group>
	);
}

/** Check is a labelled checkbox. */
export function Check(props: { checked: boolean; change: (checked: boolean) => void; children: ComponentChildren }): JSX.Element {
	return (
		<label class="check">
			<input type="checkbox" checked={props.checked} onChange={(event) => props.change(event.currentTarget.checked)} />
			<span>{props.children}</span>
		</label>
	);
}

/** toggled returns a copy of a set with some values added or removed. */
export function toggled<T>(chosen: ReadonlySet<T>, values: readonly T[], on: boolean): ReadonlySet<T> {
	const next = new Set(chosen);
	for (const value of values) {
		if (on) {
			next.add(value);
		} else {
			next.delete(value);
		}
	}
	return next;
}
