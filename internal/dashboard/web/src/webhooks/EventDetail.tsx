import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { t } from '../i18n';
import { Empty } from '../ui/FetchState';
import { Card, Page } from '../ui/Page';
import { EventContent } from './DeliveryDetail';
import { DeliveryTable } from './DeliveryTable';
import { useWebhookURLs } from './queries';
import { type DeliveryView, useDeliveries } from './useDeliveries';
import './webhooks.css';

/** Event shows one event and its deliveries to every webhook. */
export function Event(props: { id?: string }): JSX.Element {
	const id = props.id ?? '';
	const seen = useRef<DeliveryView>({ first: 0, last: 20 });
	const list = useDeliveries({ event: id }, true, seen);
	const urls = useWebhookURLs();
	return (
		<Page title={t('webhooks.event')} actions={<Link href="/events">{t('webhooks.event.list')}</Link>}>
			<Card>
				<EventContent id={id} alone />
			</Card>
			<Card title={t('webhooks.deliveries')}>
				<DeliveryTable ofEvent list={list} seen={seen} names={urls} empty={<Empty title={t('webhooks.event.undelivered')} />} />
			</Card>
		</Page>
	);
}
