import { useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { api, unwrap } from '../api/client';
import { queries } from '../api/queries';
import { number } from '../format';
import { locale, t } from '../i18n';
import { hasScope } from '../session';
import { CopyableText, Time } from '../ui/Badge';
import { Fetched } from '../ui/FetchState';
import { Form } from '../ui/Form';
import { Card, Facts, Page } from '../ui/Page';
import { span } from '../webhooks/eventTypes';
import { AlertFields } from './AlertFields';
import { AlertHistory } from './AlertHistory';
import { DeleteAlertDialog } from './DeleteAlertDialog';
import { AlertBadge, alertLanguages, conditionText, placeText, title } from './describe';
import { changesOf, type Alert as Definition, draftOf } from './draft';
import { RequireAlerts } from './RequireAlerts';
import { TestAlert } from './TestAlert';
import './alerts.css';

/** Alert shows one alert with its actions and its history. */
export function Alert(props: { id?: string }): JSX.Element {
	const { id = '' } = props;
	const query = useQuery({
		queryKey: ['alerts', 'one', id],
		queryFn: ({ signal }) => unwrap(api.GET('/v1/alerts/{id}', { params: { path: { id } }, signal })),
		enabled: hasScope('alerts:manage'),
	});
	const { data } = query;
	return (
		<Page
			title={data ? title(data) : t('alerts.one')}
			heading={
				data && (
					<span class="alerts-name">
						{title(data)} <AlertBadge alert={data} />
					</span>
				)
			}
			actions={<Link href="/alerts">{t('alerts.back')}</Link>}
		>
			<RequireAlerts>
				<Fetched query={query}>{(alert) => <One alert={alert} />}</Fetched>
			</RequireAlerts>
		</Page>
	);
}

const refresh = () => queries.invalidateQueries({ queryKey: ['alerts'] });

/** One shows an alert, or while it is edited nothing but the form: else the page had two versions of it. */
function One(props: { alert: Definition }): JSX.Element {
	const { alert } = props;
	const [editing, setEditing] = useState(false);
	return editing ? (
		<Edit alert={alert} done={() => setEditing(false)} />
	) : (
		<>
			<Shown alert={alert} edit={() => setEditing(true)} />
			<Card title={t('alerts.test')} actions={hasScope('webhooks:manage') && <Link href="/webhooks">{t('alerts.webhooks')}</Link>}>
				<p class="hint">{t('alerts.test.about')}</p>
				<TestAlert id={alert.id} />
			</Card>
			<Card title={t('alerts.history')}>
				<AlertHistory id={alert.id} changed={alert.changed_at} />
			</Card>
		</>
	);
}

function Shown(props: { alert: Definition; edit: () => void }): JSX.Element {
	const { alert } = props;
	const { id, active, quiet_hours: quiet } = alert;
	const [removing, setRemoving] = useState(false);
	const pause = async () => {
		await unwrap(api.PATCH('/v1/alerts/{id}', { params: { path: { id } }, body: { active: !active } }));
		await refresh();
	};
	return (
		<Card>
			<h2 class="alerts-name">{conditionText(alert.condition)}</h2>
			<Facts
				of={[
					[t('alerts.place'), title(alert) === placeText(alert.place) ? undefined : placeText(alert.place)],
					[t('alerts.hysteresis'), alert.hysteresis > 0 ? number(alert.hysteresis) : undefined],
					[t('alerts.interval'), alert.minimum_interval > 0 ? span(alert.minimum_interval, locale.value) : undefined],
					[t('alerts.quiet'), quiet ? t('alerts.quiet.text', { from: quiet.from, to: quiet.to }) : undefined],
					[t('alerts.language'), alertLanguages.find(([code]) => code === alert.language)?.[1]],
					[t('alerts.triggered.at'), alert.triggered_at ? <Time key="at" at={alert.triggered_at} /> : t('alerts.never')],
					[t('alerts.created'), <Time key="created" at={alert.created_at} />],
					[t('alerts.id'), <CopyableText key="id" value={id} />],
				]}
			/>
			<div class="actions">
				<Form submit={pause} button={t(active ? 'alerts.pause' : 'alerts.resume')} />
				<button type="button" onClick={props.edit}>
					{t('action.edit')}
				</button>
				<button type="button" class="danger" onClick={() => setRemoving(true)}>
					{t('action.delete')}
				</button>
			</div>
			{!active && (
				<p class="note" role="status">
					{t('alerts.paused.note')}
				</p>
			)}
			{removing && <DeleteAlertDialog alert={alert} close={() => setRemoving(false)} />}
		</Card>
	);
}

function Edit(props: { alert: Definition; done: () => void }): JSX.Element {
	const { alert, done } = props;
	const { id } = alert;
	const [draft, setDraft] = useState(() => draftOf(alert));
	const heading = useRef<HTMLHeadingElement>(null);
	useEffect(() => {
		// The button that had the focus is gone, now and when the form closes.
		heading.current?.focus();
		return () => document.querySelector('h1')?.focus();
	}, []);
	const save = async () => {
		const body = changesOf(alert, draft);
		if (Object.keys(body).length > 0) {
			await unwrap(api.PATCH('/v1/alerts/{id}', { params: { path: { id } }, body }));
			await refresh();
		}
		done();
	};
	return (
		<Form class="alerts-form flow" submit={save} button={t('action.save')} tone="primary" cancel={done}>
			<h2 ref={heading} tabIndex={-1}>
				{t('alerts.edit')}
			</h2>
			<AlertFields draft={draft} change={(changed) => setDraft((old) => ({ ...old, ...changed }))} />
		</Form>
	);
}
