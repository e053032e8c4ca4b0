import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../i18n';

/** SaveButtons has a button for each type of a file, such as png, and reports a failed save. */
export function SaveButtons<Type extends string>(props: { types: readonly Type[]; save: (type: Type) => Promise<void> }): JSX.Element {
	const [failed, setFailed] = useState(false);
	const save = async (type: Type) => {
		setFailed(false);
		try {
			await props.save(type);
		} catch {
			setFailed(true);
		}
	};
	return (
		<>
			{props.types.map((type) => (
				<button key={type} type="button" onClick={() => void save(type)}>
					{t('air.save', { type: type.toUpperCase() })}
				</button>
			))}
			<span class="wrong" role="alert">
				{failed ? t('air.save.failed') : ''}
			</span>
		</>
	);
}
