import type { JSX } from 'preact';
import { lazy } from 'preact/compat';
import { useEffect } from 'preact/hooks';
import { Link, Redirect, Route, Router, Switch, useLocation } from 'wouter-preact';
import { useBrowserLocation } from 'wouter-preact/use-browser-location';
import { routes as account } from './account/routes';
import { routes as air } from './air/routes';
import { routes as alerts } from './alerts/routes';
import { connectLiveStream } from './api/liveStream';
import { queries } from './api/queries';
import { routes as home } from './home/routes';
import { t } from './i18n';
import { linkPath, signUpPath, startOf } from './routes';
import { Shell } from './Shell';
import { SignIn, SignInWithLink } from './SignIn';
import { hasScope, refreshSession, sessionState, watchSession } from './session';
import { routes as transactions } from './transactions/routes';
import { Failed, Loading } from './ui/FetchState';
import { LazyPart } from './ui/LazyPart';
import { Page } from './ui/Page';
import { prefetch } from './ui/prefetch';
import { keepScroll } from './ui/scroll';
import { routes as webhooks } from './webhooks/routes';

const SignUp = lazy(async () => (await import('./account/SignUp')).SignUp);

const routes = [...home, ...air, ...transactions, ...webhooks, ...alerts, ...account];
const pages = routes.map(({ path, load }) => ({ path, Shown: lazy(load) }));

/** App renders the sign-in page without a session, and the dashboard with one. */
export function App(): JSX.Element {
	useEffect(() => {
		void refreshSession();
		return watchSession();
	}, []);
	const [location] = useBrowserLocation();
	const now = sessionState.value;
	// These pages are for people without a key. A browser that has a session shows them too.
	if (location === signUpPath || location === `${signUpPath}/confirm`) {
		return (
			<LazyPart>
				<SignUp confirms={location !== signUpPath} />
			</LazyPart>
		);
	}
	if (location === linkPath) {
		return <SignInWithLink />;
	}
	switch (now.at) {
		case 'asking':
			return <Loading />;
		case 'away':
			return (
				<main class="alone">
					<Failed error={now.problem} again={() => void refreshSession()} />
				</main>
			);
		case 'out':
			return <SignIn why={now.why} />;
		case 'in':
			return <Inside key={now.current.key.id} />;
	}
}

function Inside(): JSX.Element {
	useEffect(() => connectLiveStream(), []);
	useEffect(() => keepScroll(), []);
	useEffect(
		() =>
			prefetch(
				routes.map(({ load }) => load),
				() => queries.isFetching() > 0,
			),
		[],
	);
	return (
		<Router base="/dashboard">
			<Pages />
		</Router>
	);
}

function Pages(): JSX.Element {
	const [location] = useLocation();
	const start = startOf(hasScope);
	if (location === '/' && start !== '/') {
		return <Redirect to={start} replace />;
	}
	return (
		<Shell>
			<LazyPart key={location}>
				<Switch>
					{pages.map(({ path, Shown }) => (
						<Route key={path} path={path}>
							{(parameters: Record<string, string>) => <Shown key={JSON.stringify(parameters)} {...parameters} />}
						</Route>
					))}
					<Route>
						<Page title={t('shell.notfound')}>
							<p>{t('shell.notfound.why')}</p>
							<p>
								<Link href={start} class="button">
									{t('shell.notfound.back')}
								</Link>
							</p>
						</Page>
					</Route>
				</Switch>
			</LazyPart>
		</Shell>
	);
}
