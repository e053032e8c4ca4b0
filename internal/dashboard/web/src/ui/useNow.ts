import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';

const now = signal(new Date());
let watchers = 0;
let timer: ReturnType<typeof setInterval> | undefined;

/** useNow returns the current time and rerenders its component every second. */
export function useNow(): Date {
	useEffect(() => {
		watchers++;
		if (watchers === 1) {
			now.value = new Date();
			timer = setInterval(() => {
				now.value = new Date();
			}, 1000);
		}
		return () => {
			watchers--;
			if (watchers === 0) {
				clearInterval(timer);
			}
		};
	}, []);
	return now.value;
}

/** useMinute returns the current time and rerenders its component every minute, for ages of hours and days. */
export function useMinute(): Date {
	const [at, setAt] = useState(() => new Date());
	useEffect(() => {
		const timer = setInterval(() => setAt(new Date()), 60_000);
		return () => clearInterval(timer);
	}, []);
	return at;
}
