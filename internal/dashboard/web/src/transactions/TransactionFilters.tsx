import type { JSX } from 'preact';
import { t } from '../i18n';
import { Filter, Select } from '../ui/Field';

type Values = Partial<Record<'status' | 'from' | 'to' | 'ref_id', string>>;

/** Filters are the filters that all lists of transactions share: status, range of days, reference. */
export function Filters(props: {
	states?: readonly (readonly [value: string, text: string])[];
	/** dates hides the filter for the reference. */
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
					hint={t('transactions.filter.ref.hint')}
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
