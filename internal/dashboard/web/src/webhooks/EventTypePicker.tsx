import type { JSX } from 'preact';
import { t } from '../i18n';
import { Check, Group, toggled } from '../ui/Field';
import { subscribesTo } from './DeliveryBadge';
import { type EventType, everyType, families } from './eventTypes';

/** EventTypePicker selects event types, grouped in families, with a description of each. */
export function EventTypePicker(props: { chosen: ReadonlySet<EventType>; change: (chosen: ReadonlySet<EventType>) => void }): JSX.Element {
	const set = (types: readonly EventType[], on: boolean) => props.change(toggled(props.chosen, types, on));
	return (
		<Group legend={t('webhooks.events')} name="events" class="wh-choose">
			<div class="actions">
				<button type="button" class="small" onClick={() => set(everyType, true)}>
					{t('webhooks.events.all')}
				</button>
				<button type="button" class="small" onClick={() => set(everyType, false)}>
					{t('webhooks.events.none')}
				</button>
				<span class="hint" role="status">
					{t('webhooks.events.chosen', { count: props.chosen.size, of: everyType.length })}
				</span>
			</div>
			<div class="cards">
				{families.map((family) => (
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
