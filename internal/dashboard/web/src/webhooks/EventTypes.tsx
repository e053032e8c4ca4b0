import types from 'virtual:event-types';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { language, meaningOf, t } from '../i18n';
import { hasScope } from '../session';
import { Badge } from '../ui/Badge';
import { Breakable } from '../ui/Breakable';
import { Coded } from '../ui/Coded';
import { Empty, Fetched } from '../ui/FetchState';
import { Select } from '../ui/Field';
import { Filters } from '../ui/FilterForm';
import { Card, Page } from '../ui/Page';
import { Table } from '../ui/Table';
import { type Described, fieldsOf } from './catalogue';
import { subscribesTo } from './DeliveryBadge';
import { type EventType, offeredFamilies, offeredTypes } from './eventTypes';
import { Payload } from './payload';
import { useWebhooks } from './queries';
import { SendTest } from './SendTestEvent';
import './webhooks.css';

/** offered returns the types of events that the key may subscribe to, in the order of the contract. */
function offered(): Described[] {
	const names: readonly string[] = offeredTypes(hasScope('sources:read'));
	return types.filter(({ type }) => names.includes(type));
}

/** EventTypes lists every type of event, grouped by what it is about. */
export function EventTypes(): JSX.Element {
	return (
		<Page title={t('webhooks.types')} actions={<Link href="/webhooks">{t('webhooks.back')}</Link>}>
			<p class="hint">{t('webhooks.types.about')}</p>
			{offeredFamilies(hasScope('sources:read')).map(({ name, types }) => (
				<Card key={name} title={t(name)}>
					<div class="wh-catalogue">
						<Table<EventType>
							compact
							caption={t(name)}
							rows={types}
							id={(type) => type}
							columns={[
								{
									name: t('webhooks.test.type'),
									show: (type) => (
										<Link href={`/event-types/${type}`}>
											<code>
												<Breakable of={type} />
											</code>
										</Link>
									),
								},
								{ name: t('webhooks.types.when'), phone: 'line', show: subscribesTo },
							]}
						/>
					</div>
				</Card>
			))}
		</Page>
	);
}

/** OneEventType shows a type of event with the schema of its data and an example. */
export function OneEventType(props: { type?: string }): JSX.Element {
	const one = offered().find(({ type }) => type === props.type);
	return (
		<Page title={props.type ?? ''} actions={<Link href="/event-types">{t('webhooks.types')}</Link>}>
			{one ? <One one={one} type={one.type as EventType} /> : <Empty title={t('webhooks.types.none')} />}
		</Page>
	);
}

function One(props: { one: Described; type: EventType }): JSX.Element {
	const { one, type } = props;
	return (
		<>
			<Card>
				{language.value === 'en' ? (
					<p>
						<Coded text={one.data.description ?? one.summary} />
					</p>
				) : (
					<p>{subscribesTo(type)}</p>
				)}
				<p class="wh-line">
					<Link href={`/webhooks/new?type=${type}`}>{t('webhooks.types.subscribe')}</Link>
					<Link href={`/events?type=${type}`}>{t('webhooks.types.events')}</Link>
				</p>
			</Card>
			<Card title={t('webhooks.test')}>
				<Test type={type} />
			</Card>
			<Card title={t('webhooks.types.fields')}>
				<Table
					compact
					caption={t('webhooks.types.fields')}
					rows={fieldsOf(one.data)}
					id={({ name }) => name}
					columns={[
						{
							name: t('webhooks.types.field'),
							show: (field) => (
								<>
									<code>
										<Breakable of={field.name} />
									</code>{' '}
									{!field.required && <Badge tone="quiet">{t('webhooks.types.optional')}</Badge>}{' '}
									<code class="wh-type-of">{field.type}</code>
								</>
							),
						},
						{
							name: t('webhooks.types.meaning'),
							phone: 'line',
							show: (field) => (
								<span class="wh-meaning">
									<Coded text={meaningOf(field.description)} />
								</span>
							),
						},
					]}
				/>
				<details>
					<summary>{t('webhooks.types.schema')}</summary>
					<Payload raw={JSON.stringify(one.data)} />
				</details>
			</Card>
			<Card title={t('webhooks.types.example')}>
				<Payload raw={JSON.stringify(one.example)} />
			</Card>
		</>
	);
}

/** Test sends a test event of a type to one of the webhooks that subscribe to it. */
function Test(props: { type: EventType }): JSX.Element {
	const query = useWebhooks();
	const [chosen, choose] = useState<string>();
	return (
		<Fetched query={query}>
			{(all) => {
				const webhooks = all.filter(({ events }) => events.includes(props.type));
				const webhook = webhooks.find(({ id }) => id === chosen) ?? webhooks[0];
				if (!webhook) {
					return <p>{t('webhooks.types.unsubscribed')}</p>;
				}
				return (
					<>
						<p class="hint">{t('webhooks.test.about')}</p>
						<Filters class="filters">
							<Select
								label={t('webhooks.endpoint')}
								value={webhook.id}
								options={webhooks.map(({ id, url }) => [id, url] as const)}
								change={choose}
							/>
						</Filters>
						<SendTest key={webhook.id} id={webhook.id} events={[props.type]} />
					</>
				);
			}}
		</Fetched>
	);
}
