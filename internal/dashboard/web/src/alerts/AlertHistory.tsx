import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { api, type Schemas, unwrap } from '../api/client';
import { queries } from '../api/queries';
import { t } from '../i18n';
import { hasScope } from '../session';
import { Badge, Time } from '../ui/Badge';
import { Rows, useList } from '../ui/List';
import './alerts.css';

type Change = { event_id: string; at: string; data: Schemas['AlertData'] };

/**
 * AlertHistory lists the changes of an alert, newest first. changed is when the alert on the page changed last. A newer
 * change fetches the alert again, so that its state is that of its history.
 */
export function AlertHistory(props: { id: string; changed: string | null }): JSX.Element {
	const { id, changed } = props;
	const list = useList<Change>(['alerts', 'history', id], (cursor, signal) =>
		unwrap(
			api.GET('/v1/alerts/{id}/history', {
				params: { path: { id }, query: { limit: 50, ...(cursor ? { cursor } : {}) } },
				signal,
			}),
		),
	);
	return (
		<Rows list={list} empty={t('alerts.history.none')} hint={<p>{t('alerts.history.none.hint')}</p>}>
			{(rows) => <Changes id={id} changed={changed} rows={rows} />}
		</Rows>
	);
}

function Changes(props: { id: string; changed: string | null; rows: readonly Change[] }): JSX.Element {
	const { id, changed, rows } = props;
	const newest = rows[0];
	useEffect(() => {
		if (newest && (changed === null || Date.parse(newest.at) > Date.parse(changed))) {
			void queries.invalidateQueries({ queryKey: ['alerts', 'one', id] });
		}
	}, [newest?.event_id]);
	return (
		<ol class="alerts-history">
			{rows.map((row) => (
				<One key={row.event_id} change={row} />
			))}
		</ol>
	);
}

function One(props: { change: Change }): JSX.Element {
	const { event_id: event, at, data } = props.change;
	const triggered = data.state === 'triggered';
	return (
		<li class={triggered ? 'bad' : 'good'}>
			<p class="alerts-line">
				<Badge tone={triggered ? 'bad' : 'good'}>{t(triggered ? 'alerts.event.triggered' : 'alerts.event.resolved')}</Badge>
				<span>{t(`alerts.reason.${data.reason}`)}</span>
				<Time at={at} />
			</p>
			<p lang={data.language}>{data.message}</p>
			<p class="alerts-line hint">
				{data.hour && (
					<span>
						{t('alerts.hour')} <Time at={data.hour} />
					</span>
				)}
				{data.stale && <span>{t('air.stale')}</span>}
				{hasScope('webhooks:manage') && <Link href={`/events/${event}`}>{t('alerts.event')}</Link>}
			</p>
		</li>
	);
}
