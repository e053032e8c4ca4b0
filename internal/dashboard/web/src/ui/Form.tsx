import { type ComponentChildren, createContext, type JSX } from 'preact';
import { useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type Problem, problemOf } from '../api/client';
import { t } from '../i18n';
import { errorMessage } from './FetchState';

/**
 * IdempotencyKey returns the Idempotency-Key for the body of a POST. The key stays the same for the same body
 * until the form succeeds, so that a retry after a lost reply is idempotent.
 */
export type IdempotencyKey = (body: unknown) => string;

/** FormContext is the last error of a form and the names of its fields. */
const FormContext = createContext<{ problem: Problem | undefined; names: Set<string> }>({ problem: undefined, names: new Set() });

/** useFieldError returns the error message of a field of the enclosing form; undefined if it has none. */
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

/** FormError shows an error that no field of the form shows. */
function FormError(): JSX.Element {
	const { problem, names } = useContext(FormContext);
	const shown = problem && ![...names].some((name) => problem.messageOf(name) !== undefined);
	return (
		<p class="wrong" role="alert">
			{shown && errorMessage(problem)} {shown && problem.status === 0 && t('form.again')}
		</p>
	);
}

/** Form submits its fields once at a time. An error moves the focus to the first field that it names. */
export function Form(props: {
	submit: (idempotencyKey: IdempotencyKey) => Promise<void>;
	/** button is the text of the submit button. */
	button: ComponentChildren;
	/** tone is the class of the submit button. */
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
