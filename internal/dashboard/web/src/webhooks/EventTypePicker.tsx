import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import { t } from '../i18n';
import { subscribesTo } from './DeliveryBadge';
import { type EventType, everyType, families } from './eventTypes';

/** EventTypePicker is the choice of types of events, in their families, with what subscribesTo each. */
export function EventTypePicker(props: {
	chosen: ReadonlySet<EventType>;
	change: (chosen: ReadonlySet<EventType>) => void;
	problem: string | undefined;
}): JSX.Element {
	const id = useId();
	const set = (types: readonly EventType[], on: boolean) => {
		const next = new Set(props.chosen);
		for (const type of types) {
			if (on) {
				next.add(type);
			} else {
				next.delete(type);
			}
		}
		props.change(next);
	};
	return (
		<fieldset class="wh-choose" aria-describedby={`${id}-problem`}>
			<legend>{t('webhooks.events')}</legend>
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
			<p class="wrong" id={`${id}-problem`} role="alert">
				{props.problem}
			</p>
			<div class="cards">
				{families.map((family) => (
					<fieldset key={family.name}>
						<legend>{t(family.name)}</legend>
						{family.types.map((type) => (
							<label key={type}>
								<input type="checkbox" checked={props.chosen.has(type)} onChange={(event) => set([type], event.currentTarget.checked)} />
								<span>
									<code>{type}</code>
									<span class="hint">{subscribesTo(type)}</span>
								</span>
							</label>
						))}
					</fieldset>
				))}
			</div>
		</fieldset>
	);
}
