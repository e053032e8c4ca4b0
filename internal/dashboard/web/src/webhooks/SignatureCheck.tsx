import type { JSX } from 'preact';
import { useId, useState } from 'preact/hooks';
import { number } from '../format';
import { t } from '../i18n';
import { Badge } from '../ui/Badge';
import { Field } from '../ui/Field';
import { Form } from '../ui/Form';
import { type Check, checkSignature, maxAge } from './signature';

/** SignatureCheck checks the signature of a delivery that a receiver rejects. It computes in the browser only. */
export function SignatureCheck(): JSX.Element {
	const [secret, setSecret] = useState('');
	const [header, setHeader] = useState('');
	const [body, setBody] = useState('');
	const [found, setFound] = useState<Check>();
	const id = useId();
	const check = async () => setFound(await checkSignature(secret.trim(), header, body, new Date()));
	return (
		<details class="wh-verify">
			<summary>{t('webhooks.check')}</summary>
			<p>{t('webhooks.check.how')}</p>
			<Form submit={check} button={t('webhooks.check.do')} class="wh-check">
				<Field label={t('webhooks.check.secret')} type="password" value={secret} change={setSecret} />
				<Field label={t('webhooks.check.header')} placeholder="t=…,v1=…" value={header} change={setHeader} />
				<div class="field">
					<label for={id}>{t('webhooks.check.body')}</label>
					<textarea id={id} rows={5} spellcheck={false} value={body} onInput={(event) => setBody(event.currentTarget.value)} />
				</div>
			</Form>
			<p role="status">{found && <Found of={found} />}</p>
		</details>
	);
}

function Found(props: { of: Check }): JSX.Element {
	const { of } = props;
	if (!('age' in of)) {
		return (
			<>
				<Badge tone="bad">{t('webhooks.check.wrong')}</Badge> {t(`webhooks.check.${of.result}`)}
			</>
		);
	}
	const late = Math.abs(of.age) > maxAge;
	const good = of.result === 'valid' && !late;
	return (
		<>
			<Badge tone={good ? 'good' : 'warn'}>{t(`webhooks.check.${of.result}`)}</Badge>{' '}
			{t(late ? 'webhooks.check.late' : 'webhooks.check.age', { seconds: number(of.age) })}
		</>
	);
}
