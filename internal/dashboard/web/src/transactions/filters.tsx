import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import { t } from '../i18n';
import { Select } from '../ui/form';

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
	const id = useId();
	const any = values.status || values.from || values.to || values.ref_id;
	return (
		<form class="filters" onSubmit={(event) => event.preventDefault()} aria-label={t('transactions.filter.name')}>
			{props.states && (
				<Select
					label={t('transactions.filter.status')}
					value={values.status ?? ''}
					options={[['', t('transactions.filter.all')], ...props.states]}
					onChange={(status) => change({ status })}
				/>
			)}
			{(['from', 'to'] as const).map((end) => (
				<div class="field" key={end}>
					<label for={`${id}-${end}`}>{t(`transactions.filter.${end}`)}</label>
					<input
						id={`${id}-${end}`}
						type="date"
						value={values[end] ?? ''}
						onChange={(event) => change({ [end]: event.currentTarget.value })}
					/>
				</div>
			))}
			{!props.dates && (
				<div class="field">
					<label for={`${id}-ref`}>{t('transactions.filter.ref')}</label>
					<input
						id={`${id}-ref`}
						type="search"
						key={values.ref_id ?? ''}
						defaultValue={values.ref_id ?? ''}
						maxLength={255}
						spellcheck={false}
						onChange={(event) => change({ ref_id: event.currentTarget.value.trim() })}
					/>
				</div>
			)}
			{any && (
				<button type="button" class="quiet" onClick={() => change({ status: '', from: '', to: '', ref_id: '' })}>
					{t('action.reset')}
				</button>
			)}
		</form>
	);
}
