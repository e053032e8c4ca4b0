// biome-ignore-all lint/a11y/noRedundantRoles: on phones the display of a table's elements changes, and a browser may then forget their roles
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Schemas } from '../api/client';
import { t } from '../i18n';
import { Select } from '../ui/Field';
import { Filters } from '../ui/FilterForm';
import { Cell } from '../ui/Table';
import { attemptError } from './attemptError';
import { deliveryStage, milliseconds, responseText } from './DeliveryBadge';
import { headerDifference, type Line, lineDifference } from './difference';

type Attempt = Schemas['Attempt'];

// These headers differ between any two attempts: the number of the attempt, and a signature with the time.
const ofEachAttempt = ['x-service-attempt', 'x-service-signature'];

/** CompareAttempts shows what differs between two attempts of a delivery. */
export function CompareAttempts(props: { attempts: readonly Attempt[] }): JSX.Element | null {
	const { attempts } = props;
	const [chosen, choose] = useState<{ first?: string; second?: string }>({});
	const find = (n: string | undefined, from: number) => attempts.find((one) => String(one.attempt) === n) ?? attempts.at(from);
	const [first, second] = [find(chosen.first, -2), find(chosen.second, -1)];
	const options = (without: Attempt) =>
		attempts.filter((one) => one !== without).map(({ attempt }) => [String(attempt), t('webhooks.attempt', { n: attempt })] as const);
	if (!first || !second) {
		return null;
	}
	return (
		<>
			<p class="hint">{t('webhooks.compare.about')}</p>
			{attempts.length > 2 && (
				<Filters class="filters wh-filters">
					<Select
						label={t('webhooks.compare.first')}
						value={String(first.attempt)}
						options={options(second)}
						change={(one) => choose({ first: one, second: String(second.attempt) })}
					/>
					<Select
						label={t('webhooks.compare.second')}
						value={String(second.attempt)}
						options={options(first)}
						change={(one) => choose({ first: String(first.attempt), second: one })}
					/>
				</Filters>
			)}
			<Differences first={first} second={second} />
		</>
	);
}

function Differences(props: { first: Attempt; second: Attempt }): JSX.Element {
	const { first, second } = props;
	const rows = [
		{ name: t('webhooks.compare.result'), before: responseText(first), after: responseText(second) },
		{ name: t('webhooks.compare.stage'), before: deliveryStage(first.stage), after: deliveryStage(second.stage) },
		{ name: t('webhooks.compare.time'), before: milliseconds(first.duration_ms), after: milliseconds(second.duration_ms) },
		{ name: t('webhooks.compare.error'), before: attemptError(first), after: attemptError(second) },
	].filter((row) => row.before !== row.after);
	const sent = headerDifference(first.request_headers, second.request_headers).filter(
		({ name }) => !ofEachAttempt.includes(name.toLowerCase()),
	);
	const received = headerDifference(first.response_headers, second.response_headers);
	const labels = [t('webhooks.attempt', { n: first.attempt }), t('webhooks.attempt', { n: second.attempt })] as const;
	const lines = lineDifference(first.response_body, second.response_body);
	return (
		<>
			{rows.length + received.length + sent.length === 0 ? (
				<p>{t('webhooks.compare.same')}</p>
			) : (
				// biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
				<section class="scroll listed wh-compare" tabIndex={0} aria-label={t('webhooks.compare')}>
					<table role="table">
						<caption class="unseen">{t('webhooks.compare')}</caption>
						<thead role="rowgroup">
							<tr role="row">
								<th role="columnheader" scope="col">
									{t('webhooks.compare.what')}
								</th>
								<th role="columnheader" scope="col">
									{labels[0]}
								</th>
								<th role="columnheader" scope="col">
									{labels[1]}
								</th>
							</tr>
						</thead>
						<tbody role="rowgroup">
							{rows.map((row) => (
								<Row key={row.name} {...row} labels={labels} />
							))}
							{received.map((field) => (
								<Row
									key={`received ${field.name}`}
									{...field}
									labels={labels}
									name={<Named by={t('webhooks.headers.received.one')} name={field.name} />}
								/>
							))}
							{sent.map((field) => (
								<Row
									key={`sent ${field.name}`}
									{...field}
									labels={labels}
									name={<Named by={t('webhooks.headers.sent.one')} name={field.name} />}
								/>
							))}
						</tbody>
					</table>
				</section>
			)}
			<h3>{t('webhooks.attempt.body')}</h3>
			{lines.every(({ kind }) => kind === 'same') ? <p>{t('webhooks.compare.body.same')}</p> : <Lines lines={lines} />}
		</>
	);
}

function Named(props: { by: string; name: string }): JSX.Element {
	return (
		<>
			<span class="hint">{props.by}</span> <code>{props.name}</code>
		</>
	);
}

// A missing value is a difference, so that its cell is shown on phones, too.
const none = <span>–</span>;

function Row(props: {
	name: ComponentChildren;
	labels: readonly [string, string];
	before: string | undefined;
	after: string | undefined;
}): JSX.Element {
	return (
		<tr role="row">
			<th role="rowheader" scope="row">
				{props.name}
			</th>
			<Cell label={props.labels[0]}>{props.before || none}</Cell>
			<Cell label={props.labels[1]}>{props.after || none}</Cell>
		</tr>
	);
}

const marks = { same: ' ', removed: '−', added: '+' } as const;

function Lines(props: { lines: readonly Line[] }): JSX.Element {
	return (
		// biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
		<pre class="wh-lines" tabIndex={0}>
			{props.lines.map(({ kind, text }, n) => (
				<code key={n} class={kind}>
					{kind !== 'same' && <span class="unseen">{t(`webhooks.compare.${kind}`)}</span>}
					{`${marks[kind]} ${text}\n`}
				</code>
			))}
		</pre>
	);
}
