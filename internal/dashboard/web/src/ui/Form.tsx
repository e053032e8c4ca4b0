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

/**
 * labelled returns a message of the API about a field with the label of the field in place of its name. A name that is
 * also a word, such as amount, is replaced at the beginning only.
 */
export function labelled(message: string, name: string, label: string): string {
	const last = name.slice(name.lastIndexOf('.') + 1);
	const begun = new RegExp(`^["\`]?${name.replaceAll('.', '\\.')}(\\.\\w+)*["\`]?(?= )`);
	const inside = [name, last].filter((one) => /[._]/.test(one)).map((one) => one.replaceAll('.', '\\.'));
	const text = message.replace(begun, () => label);
	return inside.length === 0
		? text
		: text.replace(new RegExp(`(\\b(?:The|the) )?["\`]?(?<![\\w.])(${inside.join('|')})\\b["\`]?`, 'g'), () => label);
}

/**
 * useFieldError returns the error message of a field of the enclosing form, with the label of the field; undefined if it
 * has none.
 */
export function useFieldError(name: string | undefined, label: string): string | undefined {
	const { problem, names } = useContext(FormContext);
	useEffect(() => {
		if (name === undefined) {
			return undefined;
		}
		names.add(name);
		return () => void names.delete(name);
	}, [names, name]);
	const message = name === undefined ? undefined : problem?.messageOf(name);
	return name === undefined || message === undefined ? undefined : labelled(message, name, label);
}

/** FormError shows an error that no field of the form shows. */
function FormError(): JSX.Element {
	const { problem, names } = useContext(FormContext);
	const shown = problem && ![...names].some((name) => problem.messageOf(name) !== undefined);
	return (
		<p class="wrong" role="alert">
			{shown && (problem.status === 0 ? t('form.again') : errorMessage(problem))}
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
	/** cancelText is the text of that button; by default “Cancel”. */
	cancelText?: string;
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
		<form ref={form} class={props.class ?? (props.children ? 'flow' : undefined)} onSubmit={submit}>
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
						{props.cancelText ?? t('action.cancel')}
					</button>
				)}
			</div>
		</form>
	);
}
