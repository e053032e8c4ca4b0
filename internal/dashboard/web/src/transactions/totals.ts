import type { Schemas } from '../api/client';

type Totals = Schemas['RechargeTotals'];

/** withRow returns totals to which one more recharge is added. Sums are in paise, which floating-point sums do not keep. */
export function withRow(totals: Totals, { status, amount }: Pick<Schemas['Recharge'], 'status' | 'amount'>): Totals {
	const more = <T extends { count: number; amount: number }>(of: T): T => ({
		...of,
		count: of.count + 1,
		amount: Math.round((of.amount + amount) * 100) / 100,
	});
	const old = totals.states.find((state) => state.status === status) ?? { status, count: 0, amount: 0 };
	return { ...more(totals), states: [...totals.states.filter((state) => state.status !== status), more(old)] };
}
