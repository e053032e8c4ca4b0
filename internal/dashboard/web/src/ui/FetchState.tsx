import type { UseQueryResult } from '@tanstack/preact-query';
import type { ComponentChildren, JSX } from 'preact';
import { problemOf } from '../api/client';
import { instant } from '../format';
import { t } from '../i18n';

/** Loading stands where something will be. */
export function Loading(): JSX.Element {
	return (
		<p class="state" role="status">
			<span class="spinner" aria-hidden="true" />
			{t('state.loading')}
		</p>
	);
}

/** Empty says that there is nothing, and what to do about it. */
export function Empty(props: { title: string; children?: ComponentChildren }): JSX.Element {
	return (
		<div class="state empty">
			<p class="lead">{props.title}</p>
			{props.children}
		</div>
	);
}

/** errorMessage is what a refusal tells a person. */
export function errorMessage(error: unknown): string {
	const problem = problemOf(error);
	if (problem.code === 'offline') {
		return t('state.offline');
	}
	if (problem.status === 429 && problem.retryAfter) {
		return t('state.limited', { seconds: problem.retryAfter });
	}
	return problem.message || t('state.error');
}

/** Failed shows a refusal, with the id of its request and a way to try again. */
export function Failed(props: { error: unknown; again?: () => void }): JSX.Element {
	const problem = problemOf(props.error);
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
 * Fetched shows the data of a query, or that it is loading, or why it is not there.
 * Data that is there stays when fetching it again fails, and says how old it is.
 */
export function Fetched<T>(props: { query: UseQueryResult<T, Error>; children: (data: T) => ComponentChildren }): JSX.Element {
	const { query } = props;
	if (query.data === undefined) {
		return query.error ? <Failed error={query.error} again={() => void query.refetch()} /> : <Loading />;
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
