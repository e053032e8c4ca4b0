/** Kind is what a batch is of. */
export type Kind = 'recharge' | 'verification';

/** kindOf is the kind of a batch by its id, or by what stands in an address. */
export function kindOf(text: string | undefined): Kind {
	return text === 'verification' || text?.startsWith('bat_') ? 'verification' : 'recharge';
}
