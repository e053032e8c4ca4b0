import { useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { api, type Schemas, unwrap } from '../api/client';
import { language, t } from '../i18n';
import { hasScope } from '../session';
import { Card } from '../ui/Page';
import type { Category } from './category';
import './advice.css';

/** AdviceReply is the reply to GET /v1/advice. */
export interface AdviceReply {
	data: readonly Schemas['Advice'][];
	sources: readonly { id: string; publisher: string; year: number }[];
}

/**
 * useAdvice fetches the advice for all categories in the language of the page. The API has the only copy of these
 * texts.
 */
export function useAdvice() {
	const shown = language.value;
	return useQuery({
		queryKey: ['advice', shown],
		queryFn: ({ signal }) => unwrap(api.GET('/v1/advice', { params: { query: { language: shown } }, signal })),
		enabled: hasScope('aqi:read'),
		staleTime: Number.POSITIVE_INFINITY,
	});
}

/** adviceFor returns the advice for a category; undefined while it is unknown. */
export function adviceFor(reply: AdviceReply | undefined, category: Category): Schemas['Advice'] | undefined {
	return reply?.data.find((one) => one.category === category);
}

/** Advice shows what everyone and each group of people should do in the present air. */
export function Advice(props: { reply: AdviceReply | undefined; category: Category }): JSX.Element | null {
	const advice = adviceFor(props.reply, props.category);
	if (!advice) {
		return null;
	}
	const sources = (props.reply?.sources ?? []).filter(({ id }) => advice.advice_sources.includes(id));
	return (
		<Card title={t('air.advice')}>
			<p>{advice.general}</p>
			<dl class="advice">
				{advice.groups.map(({ group, name, text }) => (
					<div key={group}>
						<dt>{name}</dt>
						<dd>{text}</dd>
					</div>
				))}
			</dl>
			<p class="hint">{t('air.advice.from', { sources: sources.map(({ publisher, year }) => `${publisher} (${year})`).join('; ') })}</p>
		</Card>
	);
}
