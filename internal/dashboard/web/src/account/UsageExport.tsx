import type { JSX } from 'preact';
import { api, unwrap } from '../api/client';
import { t } from '../i18n';
import { Form } from '../ui/Form';
import { saveFile } from '../ui/saveFile';

/** Export saves everything that a selection of the audit log lets through as a file of a type. */
export function Export(props: { type: string; file: string; filters: Record<string, string> }): JSX.Element {
	const { type, file, filters } = props;
	const save = async () => {
		saveFile(await unwrap(api.GET('/v1/audit', { params: { query: filters }, headers: { Accept: type }, parseAs: 'blob' })), file);
	};
	return <Form submit={save} button={t('account.audit.save', { file })} />;
}
