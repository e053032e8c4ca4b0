import type { JSX } from 'preact';
import { lazy, Suspense } from 'preact/compat';
import { useEffect } from 'preact/hooks';
import { Link, Route, Router, Switch } from 'wouter-preact';
import { routes as account } from './account/routes';
import { routes as air } from './air/routes';
import { follow } from './api/live';
import { t } from './i18n';
import { look, standing, watch } from './session';
import { Shell } from './shell';
import { SignIn } from './signin';
import { routes as transactions } from './transactions/routes';
import { Page } from './ui/page';
import { Failed, Loading } from './ui/states';
import { routes as webhooks } from './webhooks/routes';

const pages = [...air, ...account, ...transactions, ...webhooks].map((route) => ({
	path: route.path,
	component: lazy(async () => ({ default: await route.load() })),
}));

/** App is the whole page: the door, or what is behind it. */
export function App(): JSX.Element {
	useEffect(() => {
		void look();
		return watch();
	}, []);
	const now = standing.value;
	switch (now.at) {
		case 'asking':
			return <Loading />;
		case 'away':
			return (
				<main class="alone">
					<Failed error={now.problem} again={() => void look()} />
				</main>
			);
		case 'out':
			return <SignIn why={now.why} />;
		case 'in':
			return <Inside key={now.current.key.id} />;
	}
}

function Inside(): JSX.Element {
	useEffect(() => follow(), []);
	return (
		<Router base="/dashboard">
			<Shell>
				<Suspense fallback={<Loading />}>
					<Switch>
						{pages.map(({ path, component: Component }) => (
							<Route key={path} path={path}>
								{(parameters: Record<string, string>) => <Component key={JSON.stringify(parameters)} {...parameters} />}
							</Route>
						))}
						<Route>
							<Page title={t('shell.notfound')}>
								<p>
									<Link href="/">{t('shell.notfound.back')}</Link>
								</p>
							</Page>
						</Route>
					</Switch>
				</Suspense>
			</Shell>
		</Router>
	);
}
