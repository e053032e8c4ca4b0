import type { JSX } from 'preact';
import { api, unwrap } from '../api/client';
import { t } from '../i18n';
import { Form } from '../ui/Form';
import { saveFile } from '../ui/saveFile';

/** Export saves all rows of the audit log that match its filters as a file. */
export function Export(props: { type: string; file: string; filters: Record<string, string> }): JSX.Element {
	const { type, file, filters } = props;
	const save = async () => {
		saveFile(await unwrap(api.GET('/v1/audit', { params: { query: filters }, headers: { Accept: type }, parseAs: 'blob' })), file);
	};
	return <Form submit={save} button={t('account.audit.save', { file })} />;
}
