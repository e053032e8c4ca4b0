import { effect } from '@preact/signals';
import { Component, type ComponentChildren, type JSX } from 'preact';
import { Suspense } from 'preact/compat';
import { isConnected } from '../api/liveStream';
import { t } from '../i18n';
import { Loading } from './FetchState';

// A browser can cache a failed import, and an update of the service renames its scripts. A reload fetches them in
// both cases. When the service answers again, the page does so by itself.
const reload = () => location.reload();

/** ErrorBoundary shows a message in place of children that fail to load or to render. */
class ErrorBoundary extends Component<{ children: ComponentChildren }, { failed: boolean }> {
	override state = { failed: false };

	private unwatch: (() => void) | undefined;

	override componentDidCatch(error: unknown): void {
		console.error(error);
		this.setState({ failed: true });
		let was = isConnected.peek();
		this.unwatch ??= effect(() => {
			const is = isConnected.value;
			if (is && !was) {
				reload();
			}
			was = is;
		});
	}

	override componentWillUnmount(): void {
		this.unwatch?.();
	}

	override render(): ComponentChildren {
		if (!this.state.failed) {
			return this.props.children;
		}
		return (
			<div class="state failed" role="alert">
				<p class="lead">{t('state.broken')}</p>
				<button type="button" onClick={reload}>
					{t('state.again')}
				</button>
			</div>
		);
	}
}

/**
 * LazyPart renders lazy components: a loading message until their scripts arrive, or an error with a retry
 * button.
 */
export function LazyPart(props: { children: ComponentChildren }): JSX.Element {
	return (
		<ErrorBoundary>
			<Suspense fallback={<Loading />}>{props.children}</Suspense>
		</ErrorBoundary>
	);
}
