import { useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { api, type Problem, problemOf, type Schemas, unwrap } from '../api/client';
import { cityName, stateBeside, t } from '../i18n';
import { type Choice, Combobox } from '../ui/Combobox';
import { errorMessage } from '../ui/FetchState';
import { useSettled } from '../ui/useSettled';
import { bandOf } from './category';
import { foundAs, useCityNames } from './cityNames';
import { cityPath } from './places';
import './search.css';

const pin = /^[1-9]\d{5}$/;
const most = 8;

/** Search finds a city by its name, also in other scripts that the API supports, or a place by its pin code. */
export function Search(props: {
	label?: string;
	/** pins enables the search for pin codes; true by default. */
	pins?: boolean;
	/** onCity is called with the chosen city. Without onCity, the page of the city opens. */
	onCity?: (name: string) => void;
}): JSX.Element {
	const [, go] = useLocation();
	const [text, setText] = useState('');
	const [refusal, setRefusal] = useState<Problem>();
	const settled = useSettled(text, 150);
	const pins = props.pins !== false;
	const code = pins && pin.test(text);
	const open = props.onCity ?? ((name: string) => go(cityPath(name)));
	const query = useQuery({
		queryKey: ['air', 'search', settled],
		queryFn: ({ signal }) => unwrap(api.GET('/v1/cities', { params: { query: { q: settled, limit: most } }, signal })),
		enabled: settled !== '' && !/^\d/.test(settled),
	});
	const names = useCityNames(text !== '');
	const foundBy = (city: Schemas['City']) => foundAs(settled, [cityName(city.name), city.name], names[city.name] ?? []);
	// A city that is found by another name than the page shows comes after the others.
	const cities = (settled === '' ? [] : (query.data?.data ?? [])).toSorted((a, b) => Number(!!foundBy(a)) - Number(!!foundBy(b)));
	const found: Choice[] = cities.map((city) => {
		const band = bandOf(city.category);
		const index = city.aqi === null || !band ? t('air.noindex') : `${city.aqi} · ${t(band.name)}`;
		const other = foundBy(city);
		return {
			id: city.name,
			text: cityName(city.name),
			note: [other && t('air.search.as', { name: other }), stateBeside(city.name, city.state), index].filter(Boolean).join(' · '),
		};
	});
	const choices: Choice[] = code
		? [{ id: `pin:${text}`, text: t('air.pin', { pin: text }) }]
		: refusal
			? refusal.choices.map((name) => found.find(({ id }) => id === name) ?? { id: name, text: cityName(name) })
			: found;
	const choose = ({ id }: Choice) => {
		setRefusal(undefined);
		if (id.startsWith('pin:')) {
			go(`/pin/${id.slice(4)}`);
		} else {
			open(id);
		}
	};
	// The typed text may be a different spelling, a name in Hindi, or a name that several cities share. Only the API
	// can resolve it.
	const turn = useRef(0);
	useEffect(
		() => () => {
			turn.current++;
		},
		[],
	);
	const resolve = async (typed: string) => {
		const mine = ++turn.current;
		if (pins && pin.test(typed)) {
			go(`/pin/${typed}`);
			return;
		}
		try {
			const found = await unwrap(api.GET('/v1/aqi', { params: { query: { city: typed } } }));
			if (mine === turn.current && 'city' in found) {
				open(found.city);
			}
		} catch (error) {
			if (mine === turn.current) {
				setRefusal(problemOf(error));
			}
		}
	};
	return (
		<Combobox
			label={props.label ?? t(pins ? 'air.search' : 'air.search.city')}
			hint={t(pins ? 'air.search.hint' : 'air.search.city.hint')}
			choices={choices}
			announcement={text === '' || text !== settled || query.isFetching ? '' : t('air.search.count', { count: choices.length })}
			wrong={
				refusal?.code === 'ambiguous_location'
					? t('air.search.several', { name: text })
					: refusal
						? errorMessage(refusal)
						: query.error && text !== ''
							? errorMessage(query.error)
							: undefined
			}
			onType={(typed) => {
				turn.current++;
				setText(typed);
				setRefusal(undefined);
			}}
			onChoose={choose}
			onEnter={(typed) => void resolve(typed)}
		/>
	);
}
