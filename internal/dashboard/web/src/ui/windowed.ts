import { defaultRangeExtractor, observeWindowOffset, observeWindowRect, Virtualizer, windowScroll } from '@tanstack/virtual-core';
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';

/** Windowed is the part of a long list that is near the screen. */
export interface Windowed {
	/** parts are the rows to draw, in order, each with the height of what is left out before it. */
	parts: readonly { index: number; before: number }[];
	/** after is the height of what is left out after the last one. */
	after: number;
	/** measure is the ref of a row, which has its index in data-index. */
	measure: (row: HTMLElement | null) => void;
	/** first and last are the rows that can be seen; -1 without any. */
	first: number;
	last: number;
}

/** heightOf is the height of a row, as it was seen last. */
function heightOf(seen: Map<number, number>, row: HTMLElement, entry: ResizeObserverEntry | undefined): number | undefined {
	const index = Number(row.dataset.index);
	const height = entry?.borderBoxSize[0]?.blockSize;
	if (height) {
		seen.set(index, height);
	}
	return height || seen.get(index);
}

/**
 * useWindowed draws only those of count rows that are near the screen, whatever their
 * heights are, for a list that scrolls with the page. The row that has the focus stays.
 * About is the usual height of a row in pixels; body is what holds the rows.
 */
export function useWindowed(count: number, about: number, body: { current: HTMLElement | null }): Windowed {
	const [, draw] = useReducer((n: number, _: undefined) => n + 1, 0);
	const [margin, setMargin] = useState(0);
	const heights = useRef(new Map<number, number>());
	const options = {
		count,
		estimateSize: () => about,
		getScrollElement: () => window,
		observeElementRect: observeWindowRect,
		observeElementOffset: observeWindowOffset,
		scrollToFn: windowScroll,
		overscan: 5,
		// Heights come from the browser after it has laid out. Asking for them earlier would
		// have it lay out the page for every row.
		measureElement: (row: HTMLElement, entry: ResizeObserverEntry | undefined) => heightOf(heights.current, row, entry) ?? about,
		scrollMargin: margin,
		initialOffset: () => window.scrollY,
		onChange: () => draw(undefined),
		rangeExtractor: (range: Parameters<typeof defaultRangeExtractor>[0]) => {
			const near = defaultRangeExtractor(range);
			const held = document.activeElement?.closest<HTMLElement>('[data-index]');
			const at = held && body.current?.contains(held) ? Number(held.dataset.index) : -1;
			return at < 0 || at >= range.count || near.includes(at) ? near : [...near, at].sort((a, b) => a - b);
		},
	};
	const made = useRef<Virtualizer<Window, HTMLElement>>();
	made.current ??= new Virtualizer<Window, HTMLElement>(options);
	const virtual = made.current;
	virtual.setOptions({ ...virtual.options, ...options });
	useLayoutEffect(() => virtual._didMount(), [virtual]);
	useLayoutEffect(() => {
		virtual._willUpdate();
	});
	const there = count > 0;
	useEffect(() => {
		// What stands above the list moves it: the page's height tells.
		const watcher = new ResizeObserver(() => {
			if (there && body.current) {
				setMargin(Math.round(body.current.getBoundingClientRect().top + window.scrollY));
			}
		});
		watcher.observe(document.body);
		return () => watcher.disconnect();
	}, [body, there]);

	let end = margin;
	const parts = virtual.getVirtualItems().map((item) => {
		const before = Math.max(0, item.start - end);
		end = item.end;
		return { index: item.index, before };
	});
	return {
		parts,
		after: Math.max(0, margin + virtual.getTotalSize() - end),
		measure: virtual.measureElement,
		first: virtual.range?.startIndex ?? -1,
		last: virtual.range?.endIndex ?? -1,
	};
}
