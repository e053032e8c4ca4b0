import type { JSX } from 'preact';
import { t } from '../i18n';
import { Filter, Select } from '../ui/Field';

type Values = Partial<Record<'status' | 'from' | 'to' | 'ref_id', string>>;

/** Filters are those that all lists of transactions have: how it stands, from which day to which, and the reference. */
export function Filters(props: {
	states?: readonly (readonly [value: string, text: string])[];
	/** dates is set where there is nothing to choose but days. */
	dates?: boolean;
	values: Values;
	change: (change: Values) => void;
}): JSX.Element {
	const { values, change } = props;
	const any = values.status || values.from || values.to || values.ref_id;
	return (
		<form class="filters" onSubmit={(event) => event.preventDefault()} aria-label={t('transactions.filter.name')}>
			{props.states && (
				<Select
					label={t('transactions.filter.status')}
					value={values.status ?? ''}
					options={[['', t('transactions.filter.all')], ...props.states]}
					change={(status) => change({ status })}
				/>
			)}
			<Filter label={t('transactions.filter.from')} type="date" value={values.from} apply={(from) => change({ from })} />
			<Filter label={t('transactions.filter.to')} type="date" value={values.to} apply={(to) => change({ to })} />
			{!props.dates && (
				<Filter
					label={t('transactions.filter.ref')}
					type="search"
					value={values.ref_id}
					maxLength={255}
					apply={(ref_id) => change({ ref_id })}
				/>
			)}
			{any && (
				<button type="button" class="quiet" onClick={() => change({ status: '', from: '', to: '', ref_id: '' })}>
					{t('action.reset')}
				</button>
			)}
		</form>
	);
}
