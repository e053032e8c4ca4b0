/** Kind is the kind of a batch's records. */
export type Kind = 'recharge' | 'verification';

/** kindOf returns the kind of a batch from its id or from a parameter of the address. */
export function kindOf(text: string | undefined): Kind {
	return text === 'verification' || text?.startsWith('bat_') ? 'verification' : 'recharge';
}
