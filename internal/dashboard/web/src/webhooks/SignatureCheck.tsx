import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { number } from '../format';
import { t } from '../i18n';
import { Badge } from '../ui/Badge';
import { Field, TextArea } from '../ui/Field';
import { Form } from '../ui/Form';
import { useNarrow } from '../ui/useNarrow';
import { type Check, checkSignature, maxAge } from './signature';

/** SignatureCheck checks the signature of a delivery that a receiver rejects. It computes in the browser only. */
export function SignatureCheck(): JSX.Element {
	const [secret, setSecret] = useState('');
	const [header, setHeader] = useState('');
	const [body, setBody] = useState('');
	const [found, setFound] = useState<Check>();
	const narrow = useNarrow();
	const check = async () => setFound(await checkSignature(secret.trim(), header, body, new Date()));
	return (
		<details class="wh-verify">
			<summary>{t('webhooks.check')}</summary>
			<p>{t('webhooks.check.how')}</p>
			<Form submit={check} button={t('webhooks.check.do')} class="wh-check">
				<Field label={t('webhooks.check.secret')} type="password" value={secret} change={setSecret} />
				<TextArea
					label={t('webhooks.check.header')}
					hint={t('webhooks.header.name')}
					rows={narrow ? 4 : 2}
					placeholder="t=…,v1=…"
					value={header}
					change={setHeader}
				/>
				<TextArea label={t('webhooks.check.body')} rows={5} value={body} change={setBody} />
			</Form>
			<p role="status" class={found && 'wh-followed'}>
				{found && <Found of={found} />}
			</p>
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
