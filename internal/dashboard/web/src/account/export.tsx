import { useMutation } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { Problem } from '../api/client';
import { t } from '../i18n';
import { said } from '../ui/states';

/** Export saves everything that a selection of the audit log lets through as a file of a type. */
export function Export(props: { type: string; file: string; query: string }): JSX.Element {
	const save = useMutation({
		mutationFn: async () => {
			const reply = await fetch(`/dashboard/v1/audit${props.query && `?${props.query}`}`, { headers: { Accept: props.type } });
			if (!reply.ok) {
				throw new Problem(reply.status, await reply.json().catch(() => undefined));
			}
			const url = URL.createObjectURL(await reply.blob());
			const link = document.createElement('a');
			link.href = url;
			link.download = props.file;
			link.click();
			URL.revokeObjectURL(url);
		},
	});
	return (
		<>
			<button type="button" disabled={save.isPending} onClick={() => save.mutate()}>
				{t('account.audit.save', { file: props.file })}
			</button>
			<p class="wrong" role="alert">
				{save.error ? said(save.error instanceof Problem ? save.error : new Problem(0, undefined)) : ''}
			</p>
		</>
	);
}
