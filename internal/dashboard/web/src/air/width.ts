import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** useWidth observes the width of an element in pixels. It is 640 before the first layout, which is not painted. */
export function useWidth(): { frame: RefObject<HTMLDivElement>; width: number } {
	const frame = useRef<HTMLDivElement>(null);
	const [width, setWidth] = useState(640);
	useLayoutEffect(() => {
		const observer = new ResizeObserver(([entry]) => setWidth(Math.round(entry?.contentRect.width || 640)));
		if (frame.current) {
			observer.observe(frame.current);
		}
		return () => observer.disconnect();
	}, []);
	return { frame, width };
}

/** widest returns the width of the widest of texts in a font, in pixels. */
export function widest(texts: readonly string[], font: string): number {
	const pen = document.createElement('canvas').getContext('2d');
	if (pen) {
		pen.font = font;
	}
	return Math.ceil(Math.max(0, ...texts.map((text) => pen?.measureText(text).width ?? 0)));
}
