import { useEffect, useState } from 'preact/hooks';

/** useSettled returns a value after it has not changed for some milliseconds. */
export function useSettled<T>(value: T, milliseconds: number): T {
	const [settled, setSettled] = useState(value);
	useEffect(() => {
		const timer = setTimeout(() => setSettled(value), milliseconds);
		return () => clearTimeout(timer);
	}, [value, milliseconds]);
	return settled;
}
