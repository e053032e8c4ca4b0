import { useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { api, unwrap } from '../../api/client';
import { days, rupees } from '../../format';
import { t } from '../../i18n';

// The plans of the sandbox begin with their operator, which the legend names.
const ofSandbox = /^Sandbox, [^:]+: /;

/** Plans lists the plans of an operator; choosing one fills in its amount. An operator without plans is no error. */
export function Plans(props: {
	operator: string;
	circle: string | undefined;
	amount: number | undefined;
	choose: (amount: number) => void;
}): JSX.Element | null {
	const { operator, circle } = props;
	const plans = useQuery({
		queryKey: ['plans', operator, circle],
		staleTime: 60_000,
		queryFn: ({ signal }) => unwrap(api.GET('/v1/plans', { params: { query: { operator, ...(circle && { circle }) } }, signal })),
	});
	if (!plans.data || plans.data.data.length === 0) {
		return null;
	}
	return (
		<fieldset class="plans">
			<legend>{t('recharge.plans', { operator: circle ? `${operator}, ${circle}` : operator })}</legend>
			{plans.data.data.map((plan) => (
				<button
					type="button"
					key={`${plan.amount} ${plan.description}`}
					aria-pressed={plan.amount === props.amount}
					onClick={() => props.choose(plan.amount)}
				>
					<strong>{rupees(plan.amount)}</strong>
					<span>{plan.description.replace(ofSandbox, '')}</span>
					{plan.validity_days > 0 && <span class="hint">{t('recharge.validity', { days: days(plan.validity_days) })}</span>}
				</button>
			))}
		</fieldset>
	);
}
