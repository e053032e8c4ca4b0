import { effect, signal } from '@preact/signals';
import { api, Problem, problemOf, type Schemas, unwrap, withKey } from './api/client';
import { queries } from './api/queries';

/** Current is the account and the key of the session. */
export type Current = Schemas['Identity']['data'];

/** Why is the reason why a browser is not signed in. removed means that a person was removed from the account. */
export type Why = 'new' | 'ended' | 'left' | 'removed';

/** SessionState is the state of the session. */
export type SessionState = { at: 'asking' } | { at: 'in'; current: Current } | { at: 'out'; why: Why } | { at: 'away'; problem: Problem };

/** sessionState is the current state; asking until the first reply of the API. */
export const sessionState = signal<SessionState>({ at: 'asking' });

/** refreshSession reads the session of the browser's cookie from the API. */
export async function refreshSession(): Promise<void> {
	try {
		const current = (await unwrap(api.GET('/v1/sessions/current'))).data;
		const now = sessionState.peek();
		if (now.at === 'in' && now.current.key.id !== current.key.id) {
			// The cached data belongs to another key.
			queries.clear();
		}
		sessionState.value = { at: 'in', current };
	} catch (error) {
		if (error instanceof Problem && error.status === 401) {
			// If a session ended, the state is already out and gives the reason.
			if (sessionState.peek().at !== 'out') {
				sessionState.value = { at: 'out', why: 'new' };
			}
		} else {
			sessionState.value = { at: 'away', problem: problemOf(error) };
		}
	}
}

/** signIn exchanges a key for a session. It throws a Problem if the API rejects the key. */
export async function signIn(key: string): Promise<void> {
	await unwrap(withKey.POST('/v1/sessions', { headers: { Authorization: `Bearer ${key}` } }));
	queries.clear();
	await refreshSession();
	tell('in');
}

/** signInWithLink exchanges the token of a link for a session. It throws a Problem if the API rejects the token. */
export async function signInWithLink(token: string): Promise<void> {
	await unwrap(withKey.POST('/v1/sign-in-links/confirm', { body: { token } }));
	queries.clear();
	await refreshSession();
	tell('in');
}

/** switchMode switches the session to the other mode. A session that has no key of that mode needs one. */
export async function switchMode(mode: Schemas['Mode'], key?: string): Promise<void> {
	await unwrap(api.POST('/v1/sessions/current/mode', { body: { mode, ...(key ? { key } : {}) } }));
	await refreshSession();
	tell('in');
}

/** signOut ends this session, or all sessions of its key. A session that has already ended is no error. */
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

/** discardSession empties the query cache, because the next session can have another key. */
export function discardSession(why: Why): void {
	queries.cancelQueries();
	queries.clear();
	sessionState.value = { at: 'out', why };
}

/** hasScope reports whether the session's key has a scope. */
export function hasScope(scope: Schemas['Scope']): boolean {
	const now = sessionState.value;
	return now.at === 'in' && now.current.key.scopes.includes(scope);
}

// Sign-ins and sign-outs are broadcast to the other tabs, which share the cookie.
const tabs = typeof BroadcastChannel === 'undefined' ? undefined : new BroadcastChannel('vayu-session');

function tell(what: 'in' | 'out'): void {
	tabs?.postMessage(what);
}

/**
 * watchSession follows other tabs, and discards the session when the API answers 401. The returned function stops
 * it.
 */
export function watchSession(): () => void {
	const onMessage = (message: MessageEvent) => {
		if (message.data === 'out') {
			discardSession('left');
		} else {
			void refreshSession().then(() => queries.invalidateQueries());
		}
	};
	tabs?.addEventListener('message', onMessage);
	const ended = {
		onResponse: async ({ response }: { response: Response }) => {
			if (response.status !== 401 || sessionState.peek().at !== 'in') {
				return;
			}
			const problem = new Problem(
				response.status,
				await response
					.clone()
					.json()
					.catch(() => undefined),
			);
			const now = sessionState.peek();
			if (now.at === 'in') {
				discardSession(now.current.member && problem.code === 'key_revoked' ? 'removed' : 'ended');
			}
		},
	};
	api.use(ended);
	const named = effect(() => {
		const now = sessionState.value;
		document.documentElement.dataset.world = now.at === 'in' ? now.current.mode : '';
	});
	return () => {
		tabs?.removeEventListener('message', onMessage);
		api.eject(ended);
		named();
	};
}
