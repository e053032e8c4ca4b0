import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { queries } from '../api/queries';

/** pause is the time before each check of the page, in milliseconds. A page that fetches nothing at a check is idle. */
const pause = 1_500;

/** useIdle returns false until the page is idle, so that the first screen is drawn before the rest. */
export function useIdle(): boolean {
	const [idle, setIdle] = useState(false);
	useEffect(() => {
		if (idle) {
			return;
		}
		const timer = setInterval(() => queries.isFetching() === 0 && setIdle(true), pause);
		return () => clearInterval(timer);
	}, [idle]);
	return idle;
}

/**
 * Deferred draws its children when they are near the window, or when the page is idle: a search in the page and a printed
 * page include them. While first is false, it does not look, because the content above is not drawn. height is the usual
 * height of the children, in CSS units.
 */
export function Deferred(props: { first?: boolean; height: string; children: () => ComponentChildren }): ComponentChildren {
	const { first = true } = props;
	const [near, setNear] = useState(false);
	const idle = useIdle();
	const place = useRef<HTMLDivElement>(null);
	useEffect(() => {
		if (!first || !place.current) {
			return;
		}
		const watcher = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && setNear(true), {
			rootMargin: '50%',
		});
		watcher.observe(place.current);
		return () => watcher.disconnect();
	}, [first]);
	return near || (first && idle) ? props.children() : <div ref={place} class="deferred" style={{ minHeight: props.height }} />;
}
