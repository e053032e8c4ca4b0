import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api, type Schemas, unwrap } from '../api/client';
import { t } from '../i18n';
import { Dialog } from '../ui/Dialog';
import { Select } from '../ui/Field';
import { Form, type IdempotencyKey } from '../ui/Form';

/** RotateKey replaces a key. The old one keeps working for a grace period that the user chooses. */
export function RotateKey(props: { of: Schemas['Key']; close: () => void; made: (key: Schemas['KeyMade']) => void }): JSX.Element {
	const [grace, setGrace] = useState('86400');
	const rotate = async (idempotencyKey: IdempotencyKey) => {
		const body = { grace_seconds: Number(grace) };
		const params = { path: { id: props.of.id }, header: { 'Idempotency-Key': idempotencyKey(body) } };
		props.made(await unwrap(api.POST('/v1/keys/{id}/rotate', { params, body })));
	};
	return (
		<Dialog title={t('account.rotate.title', { name: props.of.name, end: `\u2060${props.of.last_four}` })} close={props.close}>
			<Form submit={rotate} button={t('account.key.rotate')} tone="primary" cancel={props.close}>
				<p>{t('account.rotate.what')}</p>
				<Select
					label={t('account.rotate.grace')}
					value={grace}
					options={[
						['0', t('account.grace.none')],
						['3600', t('account.grace.hour')],
						['86400', t('account.grace.day')],
						['604800', t('account.grace.week')],
					]}
					change={setGrace}
				/>
			</Form>
		</Dialog>
	);
}
