import { effect, signal } from '@preact/signals';
import { api, Problem, problemOf, type Schemas, unwrap, withKey } from './api/client';
import { queries } from './api/queries';

/** Current is whom the page speaks for. */
export type Current = Schemas['Identity']['data'];

/** Where the page stands with its session. */
export type SessionState =
	| { at: 'asking' }
	| { at: 'in'; current: Current }
	| { at: 'out'; why: 'new' | 'ended' | 'left' }
	| { at: 'away'; problem: Problem };

/** sessionState is asking until the API has said who is signed in. */
export const sessionState = signal<SessionState>({ at: 'asking' });

/** refreshSession asks the API whom the browser's cookie stands for. */
export async function refreshSession(): Promise<void> {
	try {
		const current = (await unwrap(api.GET('/v1/sessions/current'))).data;
		const now = sessionState.peek();
		if (now.at === 'in' && now.current.key.id !== current.key.id) {
			// What was fetched is somebody else's.
			queries.clear();
		}
		sessionState.value = { at: 'in', current };
	} catch (error) {
		if (error instanceof Problem && error.status === 401) {
			// Of a session that was there it has been said by now that it ended.
			if (sessionState.peek().at !== 'out') {
				sessionState.value = { at: 'out', why: 'new' };
			}
		} else {
			sessionState.value = { at: 'away', problem: problemOf(error) };
		}
	}
}

/** signIn exchanges a key for a session. It throws a Problem when the key is refused. */
export async function signIn(key: string): Promise<void> {
	await unwrap(withKey.POST('/v1/sessions', { headers: { Authorization: `Bearer ${key}` } }));
	queries.clear();
	await refreshSession();
	tell('in');
}

/** signOut ends this session, or with everywhere all of its key. One that has ended already is no trouble. */
export async function signOut(everywhere: boolean): Promise<void> {
	try {
		if (everywhere) {
			await unwrap(api.DELETE('/v1/sessions'));
		} else {
			await unwrap(api.DELETE('/v1/sessions/{id}', { params: { path: { id: 'current' } } }));
		}
	} catch (error) {
		if (!(error instanceof Problem && error.status === 401)) {
			throw error;
		}
	}
	discardSession('left');
	tell('out');
}

/** discardSession forgets everything that was fetched: the next session may be of another key. */
export function discardSession(why: 'ended' | 'left'): void {
	queries.cancelQueries();
	queries.clear();
	sessionState.value = { at: 'out', why };
}

/** hasScope says whether the key of the session holds a scope. */
export function hasScope(scope: Schemas['Scope']): boolean {
	const now = sessionState.value;
	return now.at === 'in' && now.current.key.scopes.includes(scope);
}

// Tabs tell each other: one that signs out, or in as somebody else, does so for all.
const tabs = typeof BroadcastChannel === 'undefined' ? undefined : new BroadcastChannel('vayu-session');

function tell(what: 'in' | 'out'): void {
	tabs?.postMessage(what);
}

/** watchSession follows other tabs, and leaves when a call says that the session has ended. */
export function watchSession(): () => void {
	const heard = (message: MessageEvent) => {
		if (message.data === 'out') {
			discardSession('left');
		} else {
			void refreshSession().then(() => queries.invalidateQueries());
		}
	};
	tabs?.addEventListener('message', heard);
	const ended = {
		onResponse: ({ response }: { response: Response }) => {
			if (response.status === 401 && sessionState.peek().at === 'in') {
				discardSession('ended');
			}
		},
	};
	api.use(ended);
	const named = effect(() => {
		const now = sessionState.value;
		document.documentElement.dataset.world = now.at === 'in' ? now.current.mode : '';
	});
	return () => {
		tabs?.removeEventListener('message', heard);
		api.eject(ended);
		named();
	};
}
