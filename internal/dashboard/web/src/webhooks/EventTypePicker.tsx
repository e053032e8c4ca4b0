import type { JSX } from 'preact';
import { t } from '../i18n';
import { hasScope } from '../session';
import { Check, Group, toggled } from '../ui/Field';
import { subscribesTo } from './DeliveryBadge';
import { type EventType, offeredFamilies, offeredTypes } from './eventTypes';

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
