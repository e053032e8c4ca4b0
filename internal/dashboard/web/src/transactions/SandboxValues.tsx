import type { JSX } from 'preact';
import type { Key } from '../i18n';
import { t } from '../i18n';
import { Card } from '../ui/Page';
import { isSandbox } from './StatusBadge';

/** SandboxValues is a value that always has the same result in the sandbox. */
export interface SandboxValues {
	value: string;
	says: Key;
}

/** Values explains the values of the sandbox, and fills the form with one. In live mode it renders nothing. */
export function Values(props: {
	title: string;
	hint: string;
	values: readonly SandboxValues[];
	use: (value: string) => void;
}): JSX.Element | null {
	if (!isSandbox()) {
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
						</button>
						<span>{t(says)}</span>
					</li>
				))}
			</ul>
		</Card>
	);
}
