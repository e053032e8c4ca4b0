import type { ComponentChildren, JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { t } from '../i18n';
import { Dialog } from './Dialog';

/** Question is what a person confirms: a title, what will happen, and the text of the button. */
export interface Question {
	title: string;
	content: ComponentChildren;
	button: string;
}

/**
 * useConfirmation returns a function that shows a question and resolves to the answer, and the dialog to render.
 * Escape and Cancel mean no.
 */
export function useConfirmation(): [confirm: (question: Question) => Promise<boolean>, dialog: JSX.Element | undefined] {
	const [question, setQuestion] = useState<Question>();
	const answer = useRef<(yes: boolean) => void>();
	const focused = useRef<Element | null>(null);
	const reply = (yes: boolean) => {
		answer.current?.(yes);
		answer.current = undefined;
		setQuestion(undefined);
		// The dialog returns the focus before the button of the form is enabled again.
		setTimeout(() => focused.current instanceof HTMLElement && focused.current.focus());
	};
	const confirm = (shown: Question) =>
		new Promise<boolean>((done) => {
			answer.current = done;
			focused.current = document.activeElement;
			setQuestion(shown);
		});
	const dialog = question && (
		<Dialog title={question.title} close={() => reply(false)}>
			{question.content}
			<div class="actions">
				<button type="button" class="primary" onClick={() => reply(true)}>
					{question.button}
				</button>
				<button type="button" onClick={() => reply(false)}>
					{t('action.cancel')}
				</button>
			</div>
		</Dialog>
	);
	return [confirm, dialog];
}
