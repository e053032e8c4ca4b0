import { effect, signal } from '@preact/signals';
import { api, keyed, ok, Problem, problemOf, type Schemas } from './api/client';
import { queries } from './api/queries';

/** Current is whom the page speaks for. */
export type Current = Schemas['Identity']['data'];

/** Where the page stands with its session. */
export type Standing =
	| { at: 'asking' }
	| { at: 'in'; current: Current }
	| { at: 'out'; why: 'new' | 'ended' | 'left' }
	| { at: 'away'; problem: Problem };

/** standing is asking until the API has said who is signed in. */
export const standing = signal<Standing>({ at: 'asking' });

/** look asks the API whom the browser's cookie stands for. */
export async function look(): Promise<void> {
	try {
		const current = (await ok(api.GET('/v1/sessions/current'))).data;
		const now = standing.peek();
		if (now.at === 'in' && now.current.key.id !== current.key.id) {
			// What was fetched is somebody else's.
			queries.clear();
		}
		standing.value = { at: 'in', current };
	} catch (error) {
		if (error instanceof Problem && error.status === 401) {
			// Of a session that was there it has been said by now that it ended.
			if (standing.peek().at !== 'out') {
				standing.value = { at: 'out', why: 'new' };
			}
		} else {
			standing.value = { at: 'away', problem: problemOf(error) };
		}
	}
}

/** signIn exchanges a key for a session. It throws a Problem when the key is refused. */
export async function signIn(key: string): Promise<void> {
	await ok(keyed.POST('/v1/sessions', { headers: { Authorization: `Bearer ${key}` } }));
	queries.clear();
	await look();
	tell('in');
}

/** signOut ends this session, or with everywhere all of its key. One that has ended already is no trouble. */
export async function signOut(everywhere: boolean): Promise<void> {
	try {
		if (everywhere) {
			await ok(api.DELETE('/v1/sessions'));
		} else {
			await ok(api.DELETE('/v1/sessions/{id}', { params: { path: { id: 'current' } } }));
		}
	} catch (error) {
		if (!(error instanceof Problem && error.status === 401)) {
			throw error;
		}
	}
	leave('left');
	tell('out');
}

/** leave forgets everything that was fetched: the next to sign in may be somebody else. */
export function leave(why: 'ended' | 'left'): void {
	queries.cancelQueries();
	queries.clear();
	standing.value = { at: 'out', why };
}

/** may says whether the key of the session holds a scope. */
export function may(scope: Schemas['Scope']): boolean {
	const now = standing.value;
	return now.at === 'in' && now.current.key.scopes.includes(scope);
}

// Tabs tell each other: one that signs out, or in as somebody else, does so for all.
const tabs = typeof BroadcastChannel === 'undefined' ? undefined : new BroadcastChannel('vayu-session');

function tell(what: 'in' | 'out'): void {
	tabs?.postMessage(what);
}

/** watch follows other tabs, and leaves when a call says that the session has ended. */
export function watch(): () => void {
	const heard = (message: MessageEvent) => {
		if (message.data === 'out') {
			leave('left');
		} else {
			void look().then(() => queries.invalidateQueries());
		}
	};
	tabs?.addEventListener('message', heard);
	const ended = {
		onResponse: ({ response }: { response: Response }) => {
			if (response.status === 401 && standing.peek().at === 'in') {
				leave('ended');
			}
		},
	};
	api.use(ended);
	const named = effect(() => {
		const now = standing.value;
		document.documentElement.dataset.world = now.at === 'in' ? now.current.mode : '';
	});
	return () => {
		tabs?.removeEventListener('message', heard);
		api.eject(ended);
		named();
	};
}
