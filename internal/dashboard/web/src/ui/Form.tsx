import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { type Problem, problemOf } from '../api/client';
import { errorMessage } from './FetchState';

/** Field is a labelled input with a hint, and what the API errorMessage is wrong with it. */
export function Field(
	props: { label: string; hint?: string; problem?: string | undefined } & Omit<JSX.IntrinsicElements['input'], 'id' | 'label'>,
): JSX.Element {
	const { label, hint, problem, ...input } = props;
	const id = useId();
	return (
		<div class="field">
			<label for={id}>{label}</label>
			<input id={id} aria-invalid={problem ? true : undefined} aria-describedby={`${id}-hint ${id}-problem`} {...input} />
			<p class="hint" id={`${id}-hint`}>
				{hint}
			</p>
			<p class="wrong" id={`${id}-problem`}>
				{problem}
			</p>
		</div>
	);
}

/**
 * Filter is a field of which is taken what was typed once it is whole: when it is left, or
 * with Enter. Until then it stays, however often the page around it is drawn.
 */
export function Filter(props: {
	label: string;
	type?: 'text' | 'date' | 'search';
	value: string | undefined;
	take: (value: string) => void;
	placeholder?: string;
	maxLength?: number;
}): JSX.Element {
	const { value, take, ...input } = props;
	const [typed, setTyped] = useState<string>();
	return (
		<Field
			{...input}
			autocomplete="off"
			spellcheck={false}
			value={typed ?? value ?? ''}
			onInput={(event) => setTyped(event.currentTarget.value)}
			// preact/compat turns onChange of an input into onInput. The capturing listener stays one for change.
			onChangeCapture={(event) => {
				setTyped(undefined);
				take(event.currentTarget.value.trim());
			}}
		/>
	);
}

/** Select is a labelled choice of one. */
export function Select(props: {
	label: string;
	value: string;
	options: readonly (readonly [value: string, text: string])[];
	onChange: (value: string) => void;
}): JSX.Element {
	const id = useId();
	return (
		<div class="field">
			<label for={id}>{props.label}</label>
			<select id={id} value={props.value} onChange={(event) => props.onChange(event.currentTarget.value)}>
				{props.options.map(([value, text]) => (
					<option key={value} value={value}>
						{text}
					</option>
				))}
			</select>
		</div>
	);
}

/** Submission is a form on its way. */
export interface Submission {
	busy: boolean;
	/** problem is the last refusal; undefined when there was none since. */
	problem: Problem | undefined;
	/** of is what is wrong with a field of the request, or with a part of it: events.2 is of events. */
	of: (field: string) => string | undefined;
	submit: (event: Event) => void;
}

/** useSubmission runs an action when its form is submitted, once at a time. A refusal leads to the field that it names. */
export function useSubmission(action: () => Promise<void>): Submission {
	const [busy, setBusy] = useState(false);
	const [problem, setProblem] = useState<Problem>();
	const form = useRef<EventTarget | null>(null);
	useEffect(() => {
		if (problem && form.current instanceof HTMLFormElement) {
			form.current.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
		}
	}, [problem]);
	const submit = (event: Event) => {
		event.preventDefault();
		if (busy) {
			return;
		}
		form.current = event.currentTarget;
		setBusy(true);
		setProblem(undefined);
		action()
			.catch((error: unknown) => setProblem(problemOf(error)))
			.finally(() => setBusy(false));
	};
	const of = (field: string) => {
		const about = (named: string | undefined) => named === field || named?.startsWith(`${field}.`);
		const detail = problem?.details.find((detail) => about(detail.field));
		return detail?.message ?? (about(problem?.field) ? problem?.message : undefined);
	};
	return { busy, problem, of, submit };
}

/** FormError shows what a form's refusal says, where no field of it does. */
export function FormError(props: { submission: Submission; fields?: readonly string[]; children?: ComponentChildren }): JSX.Element {
	const { problem, of } = props.submission;
	const shown = problem && !props.fields?.some((field) => of(field) !== undefined);
	return (
		<p class="wrong" role="alert">
			{shown ? (props.children ?? errorMessage(problem)) : ''}
		</p>
	);
}
