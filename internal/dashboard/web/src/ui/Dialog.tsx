import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { t } from '../i18n';

/**
 * Dialog is shown above the page while it is there. The browser's own element keeps the
 * focus inside, and gives it back; Escape and the button close it.
 */
export function Dialog(props: { title: string; close: () => void; children: ComponentChildren }): JSX.Element {
	const element = useRef<HTMLDialogElement>(null);
	const name = useId();
	const gone = useRef(false);
	useEffect(() => {
		const dialog = element.current;
		dialog?.showModal();
		return () => {
			gone.current = true;
			dialog?.close();
		};
	}, []);
	// A dialog that another has taken the place of tells that it was closed when the other is there.
	const closed = () => gone.current || props.close();
	return (
		<dialog ref={element} aria-labelledby={name} onClose={closed}>
			<header class="card-head">
				<h2 id={name}>{props.title}</h2>
				<button type="button" class="small quiet" onClick={() => element.current?.close()}>
					{t('shell.close')}
				</button>
			</header>
			{props.children}
		</dialog>
	);
}
