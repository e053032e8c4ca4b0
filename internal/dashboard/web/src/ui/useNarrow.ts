import { useEffect, useState } from 'preact/hooks';

/** few is the initial number of rows of a list in a narrow window. */
export const few = 20;

const narrow = '(max-width: 52rem)';

/** useNarrow reports whether the window has the width of a phone. The styles have the same limit. */
export function useNarrow(): boolean {
	const [is, setIs] = useState(() => matchMedia(narrow).matches);
	useEffect(() => {
		const list = matchMedia(narrow);
		const changed = () => setIs(list.matches);
		changed();
		list.addEventListener('change', changed);
		return () => list.removeEventListener('change', changed);
	}, []);
	return is;
}
