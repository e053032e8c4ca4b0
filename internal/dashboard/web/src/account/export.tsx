import { useMutation } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { api, ok } from '../api/client';
import { t } from '../i18n';
import { save } from '../ui/save';
import { said } from '../ui/states';

/** Export saves everything that a selection of the audit log lets through as a file of a type. */
export function Export(props: { type: string; file: string; filters: Record<string, string> }): JSX.Element {
	const { type, file, filters } = props;
	const made = useMutation({
		mutationFn: async () => {
			const whole = await ok(api.GET('/v1/audit', { params: { query: filters }, headers: { Accept: type }, parseAs: 'blob' }));
			save(whole, file);
		},
	});
	return (
		<>
			<button type="button" disabled={made.isPending} onClick={() => made.mutate()}>
				{t('account.audit.save', { file })}
			</button>
			<p class="wrong" role="alert">
				{made.error ? said(made.error) : ''}
			</p>
		</>
	);
}
