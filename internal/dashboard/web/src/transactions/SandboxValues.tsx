import type { JSX } from 'preact';
import type { Key } from '../i18n';
import { t } from '../i18n';
import { Card } from '../ui/Page';
import { sandboxHint } from './StatusBadge';

/** SandboxValues is a value of the sandboxHint that behaves always the same. */
export interface SandboxValues {
	value: string;
	says: Key;
}

/** Values explains the sandboxHint's values, and fills the form with one. In the live world there is nothing to show. */
export function Values(props: {
	title: string;
	hint: string;
	values: readonly SandboxValues[];
	use: (value: string) => void;
}): JSX.Element | null {
	if (!sandboxHint()) {
		return null;
	}
	return (
		<Card title={props.title} class="magic">
			<p class="hint">{props.hint}</p>
			<ul>
				{props.values.map(({ value, says }) => (
					<li key={value}>
						<button type="button" class="small" onClick={() => props.use(value)}>
							<code>{value}</code>
						</button>{' '}
						{t(says)}
					</li>
				))}
			</ul>
		</Card>
	);
}
