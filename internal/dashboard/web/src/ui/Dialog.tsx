import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { t } from '../i18n';

/**
 * Dialog is a modal dialog that is open while it is rendered. The browser's dialog element traps the focus and
 * restores it. Escape and the button close it.
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
	// The close event is asynchronous. After an unmount it must not close the dialog that replaced this one.
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
