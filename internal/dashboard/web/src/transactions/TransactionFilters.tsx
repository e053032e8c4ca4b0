import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { t } from '../i18n';
import { Filter, Select } from '../ui/Field';
import { FilterForm } from '../ui/FilterForm';
import { amountOf } from './recorded';
import { searchOf } from './search';

/** filterNames are the filters in the address of a list of transactions. */
export const filterNames = ['status', 'from', 'to', 'ref_id', 'q', 'type', 'amount_min', 'amount_max'] as const;

type Values = Partial<Record<(typeof filterNames)[number] | 'method', string>>;

const none: Values = { status: '', from: '', to: '', ref_id: '', q: '', type: '', method: '', amount_min: '', amount_max: '' };

/** Filters are the filters that lists of transactions share: status, range of days, a search, type, amount. */
export function Filters(props: {
	states?: readonly (readonly [value: string, text: string])[];
	/** dates hides the search, so that only the days can be chosen. */
	dates?: boolean;
	/** search has the label and the hint of a search for ids, references and, where the list has them, numbers. */
	search?: readonly [label: string, hint: string];
	/** types are the types of recharges. With them, the filters of the amount are shown, too. */
	types?: readonly (readonly [value: string, text: string])[];
	/** methods are the methods of verifications. */
	methods?: readonly (readonly [value: string, text: string])[];
	values: Values;
	change: (change: Values) => void;
	/** find is a search of the list itself. */
	find?: ComponentChildren;
}): JSX.Element {
	const { values, change } = props;
	const [, go] = useLocation();
	const hint = useId();
	const shown = Object.fromEntries(Object.keys(none).map((name) => [name, values[name as keyof Values]]));
	const search = (text: string) => {
		const found = searchOf(text);
		if ('page' in found) {
			go(found.page);
		} else {
			change({ q: text, ref_id: '' });
		}
	};
	return (
		<FilterForm
			values={shown}
			reset={() => change(none)}
			label={t('transactions.filter.name')}
			hint={props.search && { id: hint, text: props.search[1] }}
			searched={Boolean(values.q || values.ref_id)}
			search={
				props.search ? (
					<Filter
						label={props.search[0]}
						describedBy={hint}
						type="search"
						value={values.q ?? values.ref_id}
						maxLength={255}
						apply={search}
					/>
				) : (
					props.find
				)
			}
		>
			{props.states && (
				<Select
					label={t('transactions.filter.status')}
					value={values.status ?? ''}
					options={[['', t('transactions.filter.all')], ...props.states]}
					change={(status) => change({ status })}
				/>
			)}
			{props.methods && (
				<Select
					label={t('verify.method')}
					value={values.method ?? ''}
					options={[['', t('transactions.filter.all')], ...props.methods]}
					change={(method) => change({ method })}
				/>
			)}
			{props.types && (
				<>
					<Select
						label={t('recharge.type')}
						value={values.type ?? ''}
						options={[['', t('transactions.filter.all')], ...props.types]}
						change={(type) => change({ type })}
					/>
					{(['amount_min', 'amount_max'] as const).map((name) => (
						<Filter
							key={name}
							label={t(`transactions.filter.${name}`)}
							inputMode="decimal"
							maxLength={12}
							wrong={values[name] && amountOf(values[name]) === undefined ? t('transactions.amount.wrong') : undefined}
							value={values[name]}
							apply={(value) => change({ [name]: value })}
						/>
					))}
				</>
			)}
			<Filter label={t('transactions.filter.from')} type="date" value={values.from} apply={(from) => change({ from })} />
			<Filter label={t('transactions.filter.to')} type="date" value={values.to} apply={(to) => change({ to })} />
			{!props.dates && !props.search && (
				<Filter
					label={t('transactions.filter.ref')}
					hint={t('transactions.filter.ref.hint')}
					type="search"
					value={values.ref_id}
					maxLength={255}
					apply={(ref_id) => change({ ref_id })}
				/>
			)}
		</FilterForm>
	);
}
