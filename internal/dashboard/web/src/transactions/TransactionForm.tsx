import type { ComponentChildren, JSX } from 'preact';
import { t } from '../i18n';
import { Field, FormError, type Submission } from '../ui/Form';

/** Reference is the field of a person's own reference, with what the API says of one that is taken. */
export function Reference(props: {
	value: string;
	change: (value: string) => void;
	hint: string;
	submission: Submission;
	/** most is how many characters it may have. */
	most: number;
	required?: boolean;
}): JSX.Element {
	const { of, problem } = props.submission;
	return (
		<Field
			label={t('transactions.ref')}
			hint={props.hint}
			problem={of('ref_id') ?? (problem?.code === 'duplicate_ref_id' ? problem.message : undefined)}
			maxLength={props.most}
			required={props.required ?? false}
			spellcheck={false}
			value={props.value}
			onInput={(event) => props.change(event.currentTarget.value)}
		/>
	);
}

/**
 * Send is the end of a form that makes a record: why it was refused, that sending it again
 * is safe when no answer came, and the button. Fields are those that say themselves what is
 * wrong with them; children stand between.
 */
export function Send(props: {
	submission: Submission;
	fields: readonly string[];
	text: string;
	disabled?: boolean;
	/** beside stands beside the button. */
	beside?: ComponentChildren;
	children?: ComponentChildren;
}): JSX.Element {
	const { submission } = props;
	return (
		<>
			<FormError submission={submission} fields={props.fields} />
			{submission.problem?.status === 0 && <p class="note">{t('transactions.again.safe')}</p>}
			{props.children}
			<div class="actions">
				<button type="submit" class="primary" disabled={submission.busy || props.disabled}>
					{submission.busy ? t('transactions.sending') : props.text}
				</button>
				{props.beside}
			</div>
		</>
	);
}
