/**
 * Pace delays calls while the rate limit is used up. Each limit has a name in the header `RateLimit`. The name for a
 * route is known from its last reply.
 */
export class Pace {
	readonly #names = new Map<string, string>();
	readonly #limits = new Map<string, { next: number; interval: number }>();

	/** Returns the delay of the next call of a route in milliseconds, and reserves its time. */
	delay(route: string, now: number): number {
		const limit = this.#limits.get(this.#names.get(route) ?? '');
		if (!limit) return 0;
		const at = Math.max(now, limit.next);
		limit.next = at + limit.interval;
		return at - now;
	}

	/** Reads the state of the limit from a reply. */
	observe(route: string, headers: Headers, now: number): void {
		const state = /^"([^"]+)";r=(\d+);t=(\d+)$/.exec(headers.get('RateLimit') ?? '');
		const policy = /;q=(\d+);w=(\d+)$/.exec(headers.get('RateLimit-Policy') ?? '');
		const name = state?.[1];
		if (!state || !policy || !name) return;
		this.#names.set(route, name);
		if (Number(state[2]) > 0) {
			this.#limits.delete(name);
			return;
		}
		// The bucket of q calls refills within w seconds.
		const interval = (1000 * Number(policy[2])) / Number(policy[1]);
		this.#limits.set(name, { next: Math.max(this.#limits.get(name)?.next ?? 0, now + interval), interval });
	}
}
