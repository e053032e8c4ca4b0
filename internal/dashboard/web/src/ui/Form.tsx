import { type ComponentChildren, createContext, type JSX } from 'preact';
import { useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type Problem, problemOf } from '../api/client';
import { t } from '../i18n';
import { errorMessage } from './FetchState';

/**
 * IdempotencyKey returns the Idempotency-Key for the body of a POST. The key stays the same for the same body
 * until the form has succeeded, so that sending it again after a lost reply has no further effect.
 */
export type IdempotencyKey = (body: unknown) => string;

/** FormContext is the last refusal of a form, and the names of the fields in it. */
const FormContext = createContext<{ problem: Problem | undefined; names: Set<string> }>({ problem: undefined, names: new Set() });

/** useFieldError is what the API refused about a field of the form around it; undefined if nothing. */
export function useFieldError(name: string | undefined): string | undefined {
	const { problem, names } = useContext(FormContext);
	useEffect(() => {
		if (name === undefined) {
			return undefined;
		}
		names.add(name);
		return () => void names.delete(name);
	}, [names, name]);
	return name === undefined ? undefined : problem?.messageOf(name);
}

/** FormError shows a refusal that no field of the form shows. */
function FormError(): JSX.Element {
	const { problem, names } = useContext(FormContext);
	const shown = problem && ![...names].some((name) => problem.messageOf(name) !== undefined);
	return (
		<p class="wrong" role="alert">
			{shown && errorMessage(problem)} {shown && problem.status === 0 && t('form.again')}
		</p>
	);
}

/**
 * Form is the one way to send something: its fields, an error message, and the button. It submits once at a
 * time. A refusal moves the focus to the first field that it names.
 */
export function Form(props: {
	submit: (idempotencyKey: IdempotencyKey) => Promise<void>;
	/** button is the text of the button that submits. */
	button: ComponentChildren;
	/** tone is the class of that button. */
	tone?: string;
	disabled?: boolean;
	/** cancel adds a second button, which leaves the form. */
	cancel?: () => void;
	class?: string;
	children?: ComponentChildren;
}): JSX.Element {
	const [busy, setBusy] = useState(false);
	const [problem, setProblem] = useState<Problem>();
	const running = useRef(false);
	const sent = useRef<{ body: string; key: string }>();
	const form = useRef<HTMLFormElement>(null);
	const names = useRef(new Set<string>()).current;
	const context = useMemo(() => ({ problem, names }), [problem, names]);
	useEffect(() => {
		if (problem) {
			form.current?.querySelector<HTMLElement>('[aria-invalid="true"], [data-invalid]')?.focus();
		}
	}, [problem]);
	const idempotencyKey = (value: unknown): string => {
		const body = JSON.stringify(value);
		if (sent.current?.body !== body) {
			sent.current = { body, key: crypto.randomUUID() };
		}
		return sent.current.key;
	};
	const submit = async (event: Event) => {
		event.preventDefault();
		if (running.current) {
			return;
		}
		running.current = true;
		setBusy(true);
		setProblem(undefined);
		try {
			await props.submit(idempotencyKey);
			sent.current = undefined;
		} catch (error) {
			setProblem(problemOf(error));
		} finally {
			running.current = false;
			setBusy(false);
		}
	};
	return (
		<form ref={form} class={props.class} onSubmit={submit}>
			<FormContext.Provider value={context}>
				{props.children}
				<FormError />
			</FormContext.Provider>
			<div class="actions">
				<button type="submit" class={props.tone} disabled={busy || props.disabled}>
					{props.button}
				</button>
				{props.cancel && (
					<button type="button" onClick={props.cancel}>
						{t('action.cancel')}
					</button>
				)}
			</div>
		</form>
	);
}
