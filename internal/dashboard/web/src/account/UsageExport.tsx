import { useMutation } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { api, unwrap } from '../api/client';
import { t } from '../i18n';
import { errorMessage } from '../ui/FetchState';
import { saveFile } from '../ui/saveFile';

/** Export saves everything that a selection of the audit log lets through as a file of a type. */
export function Export(props: { type: string; file: string; filters: Record<string, string> }): JSX.Element {
	const { type, file, filters } = props;
	const made = useMutation({
		mutationFn: async () => {
			const whole = await unwrap(api.GET('/v1/audit', { params: { query: filters }, headers: { Accept: type }, parseAs: 'blob' }));
			saveFile(whole, file);
		},
	});
	return (
		<>
			<button type="button" disabled={made.isPending} onClick={() => made.mutate()}>
				{t('account.audit.save', { file })}
			</button>
			<p class="wrong" role="alert">
				{made.error ? errorMessage(made.error) : ''}
			</p>
		</>
	);
}
