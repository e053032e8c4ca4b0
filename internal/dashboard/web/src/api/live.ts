import { signal } from '@preact/signals';
import { queries } from './queries';

/** Notice is what the live stream tells: what kind of thing has changed, and which. */
export interface Notice {
	kind: string;
	data: Record<string, unknown>;
}

/** connected says whether the stream is there; while it is not, lists may be old. */
export const connected = signal(false);

type Listener = (notice: Notice) => void;
const listeners = new Set<Listener>();

/** onNotice calls a function with every notice until what it returns is called. */
export function onNotice(listener: Listener): () => void {
	listeners.add(listener);
	return () => listeners.delete(listener);
}

/** What a kind of notice makes old: first parts of the keys of queries. */
const makesOld: Record<string, readonly string[]> = {
	air: ['air'],
	batch: ['batches'],
	delivery: ['deliveries', 'health'],
	event: ['events', 'recharges', 'verifications', 'wallet', 'audit'],
	reset: ['air', 'batches', 'deliveries', 'health', 'events', 'recharges', 'verifications', 'wallet', 'audit'],
};

/** pause is how long notices are gathered before what they make old is fetched again. */
const pause = 400;

/** follow listens to the stream until what it returns is called. */
export function follow(): () => void {
	const source = new EventSource('/dashboard/v1/live');
	const old = new Set<string>();
	let timer: ReturnType<typeof setTimeout> | undefined;
	const refresh = () => {
		timer = undefined;
		for (const first of old) {
			void queries.invalidateQueries({ queryKey: [first] });
		}
		old.clear();
	};
	const heard = (kind: string) => (message: MessageEvent<string>) => {
		const notice: Notice = { kind, data: JSON.parse(message.data) as Record<string, unknown> };
		for (const listener of listeners) {
			listener(notice);
		}
		for (const first of makesOld[kind] ?? []) {
			old.add(first);
		}
		timer ??= setTimeout(refresh, pause);
	};
	source.onopen = () => {
		connected.value = true;
	};
	source.onerror = () => {
		connected.value = false;
	};
	for (const kind of Object.keys(makesOld)) {
		source.addEventListener(kind, heard(kind));
	}
	return () => {
		clearTimeout(timer);
		source.close();
		connected.value = false;
	};
}
