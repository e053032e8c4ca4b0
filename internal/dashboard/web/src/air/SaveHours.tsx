import type { JSX } from 'preact';
import { api, unwrap } from '../api/client';
import { t } from '../i18n';
import { Form } from '../ui/Form';
import { saveFile } from '../ui/saveFile';
import type { Period } from './period';
import type { Measured } from './statistics';

/** SaveHours saves the hours of a place over a period as a Parquet file. */
export function SaveHours(props: { of: Measured; period: Period; title: string }): JSX.Element {
	const { of, period, title } = props;
	const save = async () => {
		const table = 'station' in of ? 'station_hour' : 'city_hour';
		const params = { path: { table }, query: { ...of, ...period, format: 'parquet' } } as const;
		saveFile(await unwrap(api.GET('/v1/export/{table}', { params, parseAs: 'blob' })), `${title}, ${period.from} ${period.to}.parquet`);
	};
	return <Form submit={save} button={t('air.save.hours')} />;
}
