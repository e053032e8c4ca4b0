import { useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { api, type Problem, problemOf, unwrap } from '../api/client';
import { range } from '../dates';
import { number } from '../format';
import { t } from '../i18n';
import { Dialog } from '../ui/Dialog';
import { errorMessage, Failed } from '../ui/FetchState';
import { Select } from '../ui/Field';
import { Form } from '../ui/Form';
import { deliveries, retryDelivery, type Webhook } from './queries';

/** atOnce is the maximum number of concurrent retries. */
const atOnce = 4;

/** RetryChosen retries the selected deliveries one by one, and lists those that the API rejected. */
export function RetryChosen(props: { chosen: ReadonlySet<string>; done: (retried: readonly string[]) => void }): JSX.Element {
	const [progress, setProgress] = useState<{ done: number; of: number }>();
	const [refused, setRefused] = useState<readonly { id: string; problem: Problem }[]>([]);
	const run = async () => {
		const ids = [...props.chosen];
		const rest = [...ids];
		const over: string[] = [];
		const not: { id: string; problem: Problem }[] = [];
		setRefused([]);
		setProgress({ done: 0, of: ids.length });
		const worker = async () => {
			for (let id = rest.shift(); id !== undefined; id = rest.shift()) {
				try {
					await retryDelivery(id);
					over.push(id);
				} catch (error) {
					not.push({ id, problem: problemOf(error) });
				}
				setProgress({ done: over.length + not.length, of: ids.length });
			}
		};
		await Promise.all(Array.from({ length: atOnce }, worker));
		setRefused(not);
		props.done(over);
	};
	return (
		<div class={`wh-retry ${props.chosen.size === 0 ? 'idle' : ''}`}>
			<Form submit={run} button={t('webhooks.retry.chosen', { count: number(props.chosen.size) })} disabled={props.chosen.size === 0} />
			<span role="status">
				{progress && t('webhooks.retry.progress', { done: number(progress.done - refused.length), of: number(progress.of) })}
			</span>
			{refused.length > 0 && (
				<ul class="wrong" role="alert">
					{refused.slice(0, 20).map(({ id, problem }) => (
						<li key={id}>
							<Link href={`/deliveries/${id}`}>{id}</Link>: {errorMessage(problem)}
						</li>
					))}
				</ul>
			)}
		</div>
	);
}

/** counted is the maximum number of failed deliveries that are counted. Above it the dialog shows “more than”. */
const counted = 1000;

/** RetryAll shows the number of failed deliveries in a range of days, and retries them. */
export function RetryAll(props: {
	webhooks: readonly Webhook[];
	webhook: string | undefined;
	from: string | undefined;
	to: string | undefined;
	close: () => void;
}): JSX.Element {
	const { from, to } = props;
	const [webhook, setWebhook] = useState(props.webhook ?? '');
	const [retried, setRetried] = useState<number>();
	const [over, setOver] = useState(false);
	const gone = useRef(false);
	useEffect(
		() => () => {
			gone.current = true;
		},
		[],
	);
	const count = useQuery({
		queryKey: ['deliveries', 'count', webhook, from, to],
		staleTime: 0,
		enabled: !over && retried === undefined,
		queryFn: ({ signal }) =>
			deliveries({ state: 'failed', retried: 'false', from, to, webhook: webhook || undefined }, { limit: counted }, signal),
	});
	const retry = async () => {
		const body = { ...(webhook ? { webhook_id: webhook } : { all: true }), ...range({ from, to }) };
		let sum = 0;
		setRetried(0);
		for (let more = true; more && !gone.current; ) {
			const reply = await unwrap(api.POST('/v1/deliveries/retry', { body }));
			sum += reply.retried;
			setRetried(sum);
			more = reply.has_more;
		}
		setOver(true);
	};
	const many = count.data?.data.length ?? 0;
	return (
		<Dialog title={t('webhooks.retry.all')} close={props.close}>
			<Form
				submit={retry}
				button={t('webhooks.retry.do')}
				tone="primary"
				disabled={over || !count.data || many === 0}
				{...(over ? {} : { cancel: props.close })}
			>
				<p>{t('webhooks.retry.all.about')}</p>
				<Select
					label={t('webhooks.endpoint')}
					value={webhook}
					options={[['', t('webhooks.filter.any')], ...props.webhooks.map((one) => [one.id, one.url] as const)]}
					change={(value) => {
						setWebhook(value);
						setOver(false);
						setRetried(undefined);
					}}
				/>
				<p>{from || to ? t('webhooks.retry.range', { from: from ?? '…', to: to ?? '…' }) : t('webhooks.retry.range.open')}</p>
				<p role="status">
					<strong>
						{retried !== undefined
							? t(over ? 'webhooks.retry.over' : 'webhooks.retry.so.far', { count: number(retried) })
							: count.data
								? t(count.data.has_more ? 'webhooks.retry.more' : 'webhooks.retry.count', { count: number(many) })
								: count.error
									? ''
									: t('state.loading')}
					</strong>
				</p>
				{count.error && <Failed error={count.error} again={() => void count.refetch()} />}
			</Form>
		</Dialog>
	);
}
