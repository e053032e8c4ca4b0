import { defaultRangeExtractor, observeWindowOffset, observeWindowRect, Virtualizer, windowScroll } from '@tanstack/virtual-core';
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';

/** Windowed is the part of a long list that is near the viewport. */
export interface Windowed {
	/** parts are the rows to draw, in order. before is the height of the rows omitted before each. */
	parts: readonly { index: number; before: number }[];
	/** after is the height of the rows omitted after the last one. */
	after: number;
	/** measure is the ref of a row, whose data-index is its index. */
	measure: (row: HTMLElement | null) => void;
	/** first and last are the indexes of the visible rows; -1 without any. */
	first: number;
	last: number;
}

/** heightOf returns the last observed height of a row. */
function heightOf(seen: Map<number, number>, row: HTMLElement, entry: ResizeObserverEntry | undefined): number | undefined {
	const index = Number(row.dataset.index);
	const height = entry?.borderBoxSize[0]?.blockSize;
	if (height) {
		seen.set(index, height);
	}
	return height || seen.get(index);
}

/**
 * useWindowed draws only those of count rows that are near the viewport, for a list that scrolls with the page.
 * Rows can differ in height. The row with the focus is always drawn. about is the usual height of a row in
 * pixels; body is the element that contains the rows.
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
		// Heights come from the ResizeObserver after the layout. Reading them earlier would force a layout for every
		// row.
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
		// Content above the list moves it. Such a change also changes the height of the page, which is observed.
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
