import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { t } from '../i18n';
import './dialog.css';

/**
 * Dialog is a modal dialog that is open while it is rendered. The browser's dialog element traps the focus and
 * restores it. Escape and the button close it. With kept, Escape shows this text instead, because the content cannot be
 * shown again.
 */
export function Dialog(props: { title: string; close: () => void; kept?: string; children: ComponentChildren }): JSX.Element {
	const element = useRef<HTMLDialogElement>(null);
	const name = useId();
	const gone = useRef(false);
	const [held, setHeld] = useState(false);
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
	const hold = (event: Event) => {
		if (props.kept) {
			event.preventDefault();
			setHeld(true);
		}
	};
	// A browser ignores a prevented cancel event when Escape is pressed again. A prevented key press does not cause it.
	const pressed = (event: KeyboardEvent) => event.key === 'Escape' && hold(event);
	return (
		<dialog ref={element} aria-labelledby={name} onClose={closed} onKeyDown={pressed} onCancel={hold}>
			<header class="card-head">
				<h2 id={name}>{props.title}</h2>
				<button type="button" class="small quiet" onClick={() => element.current?.close()}>
					{t('shell.close')}
				</button>
			</header>
			<p class="wrong" role="alert">
				{held ? props.kept : ''}
			</p>
			{props.children}
		</dialog>
	);
}
