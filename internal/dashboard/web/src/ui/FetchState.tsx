import type { UseQueryResult } from '@tanstack/preact-query';
import type { ComponentChildren, JSX } from 'preact';
import { problemOf } from '../api/client';
import { instant } from '../format';
import { t } from '../i18n';
import './fetchState.css';

/** Loading is a placeholder while data loads. */
export function Loading(): JSX.Element {
	return (
		<p class="state" role="status">
			<span class="spinner" aria-hidden="true" />
			{t('state.loading')}
		</p>
	);
}

/** Empty is a message that there is no data, with hints as children. */
export function Empty(props: { title: string; children?: ComponentChildren }): JSX.Element {
	return (
		<div class="state empty">
			<p class="lead">{props.title}</p>
			{props.children}
		</div>
	);
}

/** errorMessage returns the message of an error for the user. */
export function errorMessage(error: unknown): string {
	const problem = problemOf(error);
	if (problem.code === 'offline') {
		return t('state.offline');
	}
	if (problem.status === 429 && problem.retryAfter) {
		return problem.retryAfter > 120
			? t('state.limited.minutes', { minutes: Math.ceil(problem.retryAfter / 60) })
			: t('state.limited', { seconds: problem.retryAfter });
	}
	return problem.message || t('state.error');
}

/**
 * Failed shows an error with its request id and a retry button. An error with status 404 has no retry button; missing is
 * what it shows instead.
 */
export function Failed(props: { error: unknown; again?: () => void; missing?: ComponentChildren }): JSX.Element {
	const problem = problemOf(props.error);
	if (problem.status === 404) {
		return (
			<div class="state empty" role="alert">
				<p class="lead">{errorMessage(problem)}</p>
				{props.missing}
			</div>
		);
	}
	return (
		<div class="state failed" role="alert">
			<p class="lead">{errorMessage(problem)}</p>
			{problem.request && <p class="hint">{t('state.request', { id: problem.request })}</p>}
			{props.again && (
				<button type="button" onClick={props.again}>
					{t('state.again')}
				</button>
			)}
		</div>
	);
}

/**
 * Fetched shows the data of a query, a loading message, or an error. After a failed refetch it keeps the old data
 * and shows its age.
 */
export function Fetched<T>(props: {
	query: UseQueryResult<T, Error>;
	missing?: ComponentChildren;
	children: (data: T) => ComponentChildren;
}): JSX.Element {
	const { query, missing } = props;
	if (query.data === undefined) {
		return query.error ? <Failed error={query.error} again={() => void query.refetch()} missing={missing} /> : <Loading />;
	}
	return (
		<>
			{query.error && (
				<p class="note" role="status">
					{t('state.old', { time: instant(new Date(query.dataUpdatedAt).toISOString()) })}
				</p>
			)}
			{props.children(query.data)}
		</>
	);
}
