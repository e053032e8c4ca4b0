// biome-ignore-all lint/a11y/noRedundantRoles: on phones the display of a table's elements changes, and a browser may then forget their roles
import type { ComponentChildren, JSX } from 'preact';
import { memo } from 'preact/compat';
import { useEffect, useRef } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { number } from '../format';
import { t } from '../i18n';
import { Time } from '../ui/Badge';
import { Breakable } from '../ui/Breakable';
import { Failed, Loading } from '../ui/FetchState';
import { Cell } from '../ui/Table';
import { useNarrow } from '../ui/useNarrow';
import { WebAddress } from '../ui/WebAddress';
import { useWindowed } from '../ui/windowed';
import { attemptError } from './attemptError';
import { DeliveryBadge, Due, milliseconds, responseText } from './DeliveryBadge';
import type { Row } from './deliveryFeed';
import { mostAttempts } from './eventTypes';
import { isRetriable, usePaused } from './queries';
import type { Deliveries, DeliveryView } from './useDeliveries';

/** Choice is the selection of rows. */
export interface Choice {
	chosen: ReadonlySet<string>;
	choose: (ids: readonly string[], on: boolean) => void;
}

/** ahead is the number of rows before the end at which the next page is fetched. */
const ahead = 40;

/** whole is the maximum number of rows of a list that is drawn in full. */
const whole = 25;

/**
 * DeliveryTable shows a list of deliveries of any length. It draws only rows near the viewport, and fetches the
 * next page when the end is near.
 */
export function DeliveryTable(props: {
	list: Deliveries;
	seen: { current: DeliveryView };
	/** names are the URLs of webhooks by id; undefined if all rows have the same webhook. */
	names: ReadonlyMap<string, string> | undefined;
	choice?: Choice | undefined;
	/** ofEvent is whether all rows are deliveries of one event, which they then do not name. */
	ofEvent?: boolean;
	/** most is the maximum number of rows of a list without further pages. */
	most?: number;
	empty: ComponentChildren;
}): JSX.Element {
	const { list, seen, names, choice } = props;
	const paused = usePaused();
	const body = useRef<HTMLTableSectionElement>(null);
	const rows = (list.feed?.rows ?? []).slice(0, props.most);
	const narrow = useNarrow();
	const near = useWindowed(rows.length, narrow ? 110 : 48, body);
	const part = rows.length > whole ? near : { ...near, parts: rows.map((_, index) => ({ index, before: 0 })), after: 0 };
	seen.current = { first: part.first, last: part.last };
	const next = props.most === undefined ? (list.feed?.next ?? null) : null;
	const { busy, problem, load } = list.more;
	const ending = rows.length > 0 && part.last >= rows.length - ahead;
	const length = rows.length;
	useEffect(() => {
		// After an empty first page the user fetches more by a button, because the API may have to search many rows.
		if (ending && next && !problem && length > 0) {
			load();
		}
	}, [ending, next, problem, length, load]);
	const { look } = list;
	useEffect(() => look(), [look, part.first, part.last]);
	if (!list.feed) {
		return list.error ? <Failed error={list.error} again={list.refetch} /> : <Loading />;
	}
	const columns = 6 + (choice ? 1 : 0) - (names ? 0 : 1) - (props.ofEvent ? 1 : 0);
	const now = Date.now();
	const open = rows.filter((row) => isRetriable(row, now)).map((row) => row.id);
	return (
		<>
			{rows.length === 0 && !next ? (
				props.empty
			) : (
				// biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
				<section class="scroll listed compact wh-deliveries" tabIndex={0} aria-label={t('webhooks.deliveries')}>
					<table role="table" aria-rowcount={next ? -1 : rows.length + 1}>
						<caption class="unseen">{t('webhooks.deliveries.caption')}</caption>
						<thead role="rowgroup">
							<tr role="row" aria-rowindex={1}>
								{choice && (
									<th role="columnheader" scope="col" class="wh-tick">
										<input
											type="checkbox"
											aria-label={t('webhooks.choose.all')}
											disabled={open.length === 0}
											checked={open.length > 0 && open.every((id) => choice.chosen.has(id))}
											onChange={(event) => choice.choose(open, event.currentTarget.checked)}
										/>
									</th>
								)}
								<th role="columnheader" scope="col" class="wh-state">
									{t('webhooks.state')}
								</th>
								{!props.ofEvent && (
									<th role="columnheader" scope="col" class="wh-type">
										{t('webhooks.event')}
									</th>
								)}
								{names && (
									<th role="columnheader" scope="col" class="wh-hook">
										{t('webhooks.endpoint')}
									</th>
								)}
								<th role="columnheader" scope="col" class="wh-short">
									{t('webhooks.attempts')}
								</th>
								<th role="columnheader" scope="col" class="wh-last">
									{t('webhooks.last')}
								</th>
								<th role="columnheader" scope="col" class="wh-created">
									{t('webhooks.created')}
								</th>
							</tr>
						</thead>
						<tbody role="rowgroup" ref={body}>
							{part.parts.map(({ index, before }) => {
								const row = rows[index];
								return (
									row && (
										<Line
											key={row.id}
											row={row}
											index={index}
											before={before}
											columns={columns}
											measure={part.measure}
											narrow={narrow}
											paused={paused.has(row.webhook_id)}
											ofEvent={props.ofEvent ?? false}
											name={names && (names.get(row.webhook_id) ?? row.webhook_id)}
											chosen={choice?.chosen.has(row.id) ?? false}
											choose={choice?.choose}
										/>
									)
								);
							})}
							{part.after > 0 && <Gap height={part.after} columns={columns} />}
						</tbody>
					</table>
				</section>
			)}
			{problem && <Failed error={problem} again={load} />}
			{next && !problem && (
				<button type="button" disabled={busy} onClick={load}>
					{busy ? t('state.loading') : t('state.more')}
				</button>
			)}
			{rows.length > 0 && props.most === undefined && (
				<p class="hint" role="status">
					{rows.length === 1 && !next
						? t('webhooks.shown.one')
						: t(next ? 'webhooks.shown.more' : 'webhooks.shown.all', { count: number(rows.length) })}
				</p>
			)}
		</>
	);
}

function Gap(props: { height: number; columns: number }): JSX.Element {
	return (
		// biome-ignore lint/a11y/noAriaHiddenOnFocusable: it has no focus, and is no row of the list
		<tr aria-hidden="true" class="wh-gap">
			<td colSpan={props.columns} style={{ height: `${props.height}px` }} />
		</tr>
	);
}

const Line = memo(function Line(props: {
	row: Row;
	index: number;
	before: number;
	columns: number;
	measure: (row: HTMLElement | null) => void;
	narrow: boolean;
	paused: boolean;
	ofEvent: boolean;
	name: string | undefined;
	chosen: boolean;
	choose: Choice['choose'] | undefined;
}): JSX.Element {
	const { row, choose, name } = props;
	const due = row.state === 'waiting' && (
		<span class="hint wh-due">
			{t('webhooks.next')}: <Due at={row.next_attempt_at} paused={props.paused} />
		</span>
	);
	// On a phone the pill stands beside the heading, and the next attempt below it.
	const heading = (text: JSX.Element) => (
		<>
			<Link href={`/deliveries/${row.id}`}>
				{text}
				<span class="unseen"> {row.id}</span>
			</Link>
			{props.narrow && due}
		</>
	);
	return (
		<>
			{props.before > 0 && <Gap height={props.before} columns={props.columns} />}
			<tr role="row" ref={props.measure} data-index={props.index} aria-rowindex={props.index + 2}>
				{choose && (
					<Cell class="wh-tick">
						{isRetriable(row, Date.now()) && (
							<input
								type="checkbox"
								aria-label={t('webhooks.choose', { type: row.event_type, id: row.id })}
								checked={props.chosen}
								onChange={(event) => choose([row.id], event.currentTarget.checked)}
							/>
						)}
					</Cell>
				)}
				<Cell class="wh-pill" label={t('webhooks.state')}>
					<DeliveryBadge of={row} />
					{row.retried_as && <span class="hint"> {t('webhooks.retried')}</span>}
					{!props.narrow && due}
				</Cell>
				{!props.ofEvent && (
					<Cell label={t('webhooks.event')} heading>
						{heading(<Breakable of={row.event_type} />)}
					</Cell>
				)}
				{name !== undefined &&
					(props.ofEvent ? (
						<Cell label={t('webhooks.endpoint')} heading>
							{heading(<WebAddress of={name} short />)}
						</Cell>
					) : (
						<Cell phone="line" label={t('webhooks.endpoint')}>
							<WebAddress of={name} short />
						</Cell>
					))}
				<Cell phone="labelled" label={t('webhooks.attempts')}>
					{t('webhooks.attempts.of', { made: row.attempts_made, most: mostAttempts })}
				</Cell>
				<Cell label={t('webhooks.last')}>
					{row.last_attempt ? (
						<span title={attemptError(row.last_attempt)}>
							{responseText(row.last_attempt)}, <span class="wh-took">{milliseconds(row.last_attempt.duration_ms)}</span>
						</span>
					) : (
						'–'
					)}
				</Cell>
				<Cell phone="line" label={t('webhooks.created')}>
					<Time at={row.created_at} />
				</Cell>
			</tr>
		</>
	);
});
