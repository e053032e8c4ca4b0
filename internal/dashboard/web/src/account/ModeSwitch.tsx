import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { problemOf, rethrowWith, unlessRefused } from '../api/client';
import { t } from '../i18n';
import { type Current, switchMode } from '../session';
import { Dialog } from '../ui/Dialog';
import { Field } from '../ui/Field';
import { Form } from '../ui/Form';

/** Switch is a way to the other mode: what its button does, its title, and the dialog that it can open. */
interface Switch {
	press: () => Promise<void>;
	title: string;
	dialog: JSX.Element | false;
}

/**
 * useSwitch switches to the other mode. The session of a key that has no valid key of that mode asks for such a key. A
 * member has no key to enter, so an owner must switch.
 */
function useSwitch(of: Current): Switch {
	const { mode, session, member, key: used } = of;
	const other = mode === 'live' ? 'sandbox' : 'live';
	const [asks, setAsks] = useState(false);
	const [key, setKey] = useState('');
	const press = async () => {
		// The API refuses the session's key of the other mode if it was revoked, has expired or is not allowed from here.
		if (!session?.other_key_id || (await unlessRefused(switchMode(other), 'key')) === 'refused') {
			setAsks(true);
		}
	};
	const [wrong, setWrong] = useState(false);
	const submit = async () => {
		setWrong(false);
		await switchMode(other, key.trim())
			.catch((error: unknown) => {
				setWrong(problemOf(error).field === 'key');
				throw error;
			})
			.catch(rethrowWith({ key: t(`shell.switch.wrong.${other}`) }));
	};
	const title = t(other === 'live' ? 'shell.live.switch' : 'shell.sandbox.switch');
	const dialog = asks && (
		<Dialog title={title} close={() => setAsks(false)}>
			{member ? (
				<p>{t('shell.switch.member')}</p>
			) : (
				<Form submit={submit} button={title} tone="primary" cancel={() => setAsks(false)}>
					{/* The joiner keeps the dots and the end of the key on one line. */}
					<p>{t(`shell.switch.why.${other}`, { name: used.name, end: `\u2060${used.last_four}` })}</p>
					<Field
						label={t(`shell.switch.key.${other}`)}
						hint={t(`shell.switch.begins.${other}`)}
						name="key"
						type="password"
						required
						value={key}
						change={setKey}
					/>
					{wrong && <p class="hint">{t('shell.switch.wrong.else')}</p>}
				</Form>
			)}
		</Dialog>
	);
	return { press, title, dialog };
}

/** ModeSwitch shows the mode and switches to the other one. */
export function ModeSwitch(props: { of: Current }): JSX.Element {
	const { mode } = props.of;
	const { press, title, dialog } = useSwitch(props.of);
	const button = (
		<Form
			submit={press}
			button={
				<>
					<span class="unseen">{title}</span>
					<span aria-hidden="true" title={title}>
						{t(mode === 'live' ? 'shell.sandbox' : 'shell.live')}
					</span>
				</>
			}
		/>
	);
	return (
		<>
			<div class="modes">
				{mode === 'sandbox' && button}
				<span class={`world ${mode}`}>{t(`shell.${mode}`)}</span>
				{mode === 'live' && button}
			</div>
			{dialog}
		</>
	);
}

/** SwitchMode is a button that switches to the other mode, for a page that has nothing in the session's mode. */
export function SwitchMode(props: { of: Current }): JSX.Element {
	const { press, title, dialog } = useSwitch(props.of);
	return (
		<>
			<Form submit={press} button={title} tone="primary" />
			{dialog}
		</>
	);
}
