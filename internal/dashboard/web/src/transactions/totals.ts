import type { Schemas } from '../api/client';

type Row = Pick<Schemas['Recharge'], 'status' | 'amount'>;

/** Total is a number of recharges and the sum of their amounts, in rupees. */
export interface Total {
	count: number;
	amount: number;
}

/** totals returns the total of all recharges and of each state. Sums are in paise, which floating-point sums do not keep. */
export function totals(rows: readonly Row[]): { all: Total; states: ReadonlyMap<Row['status'], Total> } {
	const states = new Map<Row['status'], Total>();
	const all = { count: 0, amount: 0 };
	for (const { status, amount } of rows) {
		const state = states.get(status) ?? { count: 0, amount: 0 };
		states.set(status, state);
		for (const total of [all, state]) {
			total.count++;
			total.amount = Math.round((total.amount + amount) * 100) / 100;
		}
	}
	return { all, states };
}
