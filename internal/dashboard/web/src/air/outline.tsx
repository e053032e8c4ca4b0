import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Outline } from '../../outlines';
import { t } from '../i18n';

/** useOutlines fetches the outlines of the states, a separate chunk. */
export function useOutlines(): readonly Outline[] {
	const [outlines, setOutlines] = useState<readonly Outline[]>([]);
	useEffect(() => {
		let here = true;
		void import('virtual:india').then(
			({ default: read }) => here && setOutlines(read),
			// Without outlines the page still works: it shows the marks and the list.
			() => undefined,
		);
		return () => {
			here = false;
		};
	}, []);
	return outlines;
}

/** Credit names who has drawn the outlines. */
export function Credit(): JSX.Element {
	return (
		<p class="hint">
			{t('air.outlines')}{' '}
			<a href="https://github.com/datameet/maps" rel="noreferrer">
				Arun Ganesh, DataMeet
			</a>{' '}
			(
			<a href="https://creativecommons.org/publicdomain/zero/1.0/" rel="license noreferrer">
				CC0
			</a>
			), {t('air.outlines.changed')}
		</p>
	);
}
