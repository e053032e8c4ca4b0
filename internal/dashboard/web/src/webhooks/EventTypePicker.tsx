import type { JSX } from 'preact';
import { Link } from 'wouter-preact';
import { Problem } from '../api/client';
import { t } from '../i18n';
import { hasScope } from '../session';
import { Check, Group, toggled } from '../ui/Field';
import { subscribesTo } from './DeliveryBadge';
import { type EventType, offeredFamilies, offeredTypes } from './eventTypes';

/** requireEvents throws an error at the event types of a form if none is chosen. */
export function requireEvents(chosen: ReadonlySet<EventType>): void {
	if (chosen.size === 0) {
		throw Problem.atField('events', t('webhooks.events.required'));
	}
}

/** EventTypePicker selects event types, grouped in families, with a description of each. */
export function EventTypePicker(props: { chosen: ReadonlySet<EventType>; change: (chosen: ReadonlySet<EventType>) => void }): JSX.Element {
	const operator = hasScope('sources:read');
	const all = offeredTypes(operator);
	const set = (types: readonly EventType[], on: boolean) => props.change(toggled(props.chosen, types, on));
	return (
		<Group legend={t('webhooks.events')} name="events" class="wh-choose">
			<div class="actions">
				<button type="button" class="small" onClick={() => set(all, true)}>
					{t('webhooks.events.all')}
				</button>
				<button type="button" class="small" onClick={() => set(all, false)}>
					{t('webhooks.events.none')}
				</button>
				<span class="hint" role="status">
					{t('webhooks.events.chosen', { count: props.chosen.size, of: all.length })}
				</span>
				<Link href="/event-types">{t('webhooks.types')}</Link>
			</div>
			<div class="cards">
				{offeredFamilies(operator).map((family) => (
					<fieldset key={family.name}>
						<legend>{t(family.name)}</legend>
						{family.types.map((type) => (
							<Check key={type} checked={props.chosen.has(type)} change={(on) => set([type], on)}>
								<code>{type}</code>
								<span class="hint">{subscribesTo(type)}</span>
							</Check>
						))}
					</fieldset>
				))}
			</div>
		</Group>
	);
}
