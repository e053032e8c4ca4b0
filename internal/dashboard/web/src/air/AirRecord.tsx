import type { JSX } from 'preact';
import { Link } from 'wouter-preact';
import { before, today } from '../dates';
import { day, hundredths, number, tenths } from '../format';
import { cityName, stateName, t } from '../i18n';
import { Badge, Time } from '../ui/Badge';
import { Card, Facts } from '../ui/Page';
import { Table } from '../ui/Table';
import { useMinute } from '../ui/useNow';
import { type AdviceReply, adviceFor } from './Advice';
import { Index } from './AirLegend';
import { isStale, lastReported } from './age';
import { bandAt, pollutants, toneOf } from './category';
import { credits, type Detail } from './history';
import { cityPath, stationPath } from './places';
import { sourceName } from './sourceTexts';

/** Current shows the index of a place, its health advice and its age. */
export function Current(props: {
	record: Detail;
	advice: AdviceReply | undefined;
	date: string | undefined;
	/** go shows another day, or the present if the date is empty. */
	go: (date: string) => void;
}): JSX.Element {
	const { record, date } = props;
	const now = useMinute();
	const stale = !date && isStale(record, now);
	// A record has CPCB's statement in English only.
	const health = adviceFor(props.advice, record.category)?.statement ?? record.health;
	return (
		<Card
			title={date ? t('air.on', { day: day(date) }) : stale ? lastReported(record.updated, now) : t('air.now')}
			actions={
				date && (
					<div class="actions">
						<button type="button" onClick={() => props.go(before(date, 1))}>
							‹ <span class="step">{t('air.ranking.before.day')}</span>
						</button>
						<button type="button" disabled={date >= today(now)} onClick={() => props.go(before(date, -1))}>
							<span class="step">{t('air.ranking.after.day')}</span> ›
						</button>
						<button type="button" onClick={() => props.go('')}>
							{t('air.back')}
						</button>
					</div>
				)
			}
		>
			<div class="current">
				<p class="measured">
					<Index aqi={record.aqi} category={record.category} large stale={stale} />
					{!date && (
						<span class="age">
							<Time at={record.updated} relative />
						</span>
					)}
				</p>
				<div>
					<p class="health">{stale ? t('air.stale.why') : health}</p>
					{!record.station && !record.pincode && record.stations_used > 1 && (
						<p class="hint">{t('air.mean.short', { count: number(record.stations_used) })}</p>
					)}
					<Facts
						of={[
							[t('air.dominant'), record.dominant],
							[t(date ? 'air.until' : 'air.updated'), <Time key="at" at={record.updated} />],
							[t('air.state'), record.state && stateName(record.state)],
							[t('air.pincode'), record.pincode],
							[t('air.answered'), (record.pincode || record.station) && <Link href={cityPath(record.city)}>{cityName(record.city)}</Link>],
							[
								t('air.kind'),
								record.station && record.stations[0] && <span class="sentence">{t(`air.kind.${record.stations[0].kind}`)}</span>,
							],
							[t('air.nearest'), record.distance_km === undefined ? undefined : `${tenths(record.distance_km)} km`],
						]}
					/>
				</div>
			</div>
		</Card>
	);
}

/** Pollutants shows the concentrations and sub-indices behind the index. */
export function Pollutants(props: { record: Detail; date: string | undefined }): JSX.Element {
	const { record } = props;
	const stale = isStale(record, useMinute()) && !props.date;
	const subs: Readonly<Record<string, number | undefined>> = record.sub_indices;
	const rows = [
		...pollutants.map(({ id, name }) => ({
			id: id as string,
			name,
			amount: record[id],
			unit: record.units[id],
			hours: record.averaging[id],
			estimated: record.estimated.includes(id),
		})),
		// A record has NH₃ and Pb only if a station measures them.
		...(['nh3', 'pb'] as const)
			.filter((id) => subs[id] !== undefined || record[id] !== undefined)
			.map((id) => ({
				id: id as string,
				name: id === 'nh3' ? 'NH₃' : 'Pb',
				amount: record[id],
				unit: record.units[id] ?? '',
				hours: record.averaging[id] ?? '',
				estimated: record.estimated.includes(id),
			})),
	];
	const estimated = rows.some((row) => row.estimated);
	return (
		<Card title={t('air.pollutants')} class="parts">
			<p class="hint on-phone">{t('air.subindex.bar')}</p>
			<Table
				caption={t('air.pollutants')}
				compact
				rows={rows}
				id={(row) => row.id}
				columns={[
					{ name: t('air.pollutant'), show: (row) => <b>{row.name}</b> },
					{
						name: t('air.concentration'),
						figure: true,
						show: (row) =>
							row.amount === undefined ? '–' : row.amount === null ? t('air.unmeasured') : `${hundredths(row.amount)} ${row.unit}`,
					},
					{ name: t('air.averaging'), phone: 'end', show: (row) => (row.hours ? t(row.hours === '8h' ? 'air.8h' : 'air.24h') : '–') },
					{ name: t('air.subindex'), phone: 'top', show: (row) => <Bar index={subs[row.id]} stale={stale} /> },
					...(estimated ? [{ name: t('air.note'), show: noted }] : []),
				]}
			/>
			{estimated && <p class="hint">{t('air.estimated.why')}</p>}
		</Card>
	);
}

function noted(row: { estimated: boolean }): JSX.Element | string {
	return row.estimated ? <Badge tone="warn">{t('air.estimated')}</Badge> : '';
}

function Bar(props: { index: number | undefined; stale: boolean }): JSX.Element {
	const { index } = props;
	if (index === undefined) {
		return <span>–</span>;
	}
	const band = bandAt(index);
	return (
		<span class="sub">
			<b class="sub-figure">{index}</b>
			<span class="sub-track" aria-hidden="true">
				<span class={props.stale ? 'aqi-none' : toneOf(band)} style={{ width: `${index / 5}%` }} />
			</span>
			<span>{band && t(band.name)}</span>
		</span>
	);
}

/** Stations lists the stations of a record, and their attribution. */
export function Stations(props: { record: Detail; date: string | undefined }): JSX.Element {
	const { record } = props;
	const stale = isStale(record, useMinute()) && !props.date;
	return (
		<Card title={t(record.station ? 'shell.sources' : 'air.stations')} class="nearby">
			{!record.station && (
				<p class="hint">
					{t('air.used', { used: record.stations_used, total: record.stations_total })}
					{!record.pincode && record.stations_used > 1 && ` ${t('air.mean')}`}
				</p>
			)}
			{!record.station && record.stations.length > 0 && (
				<Table
					caption={t('air.stations')}
					compact
					rows={record.stations}
					id={(station) => station.id}
					columns={[
						{
							name: t('air.station'),
							show: (station) => <Link href={stationPath(station.id)}>{station.name || station.id}</Link>,
						},
						{
							name: t('air.index'),
							phone: 'top',
							show: (station) => (
								<Index aqi={station.aqi} category={(station.aqi !== null && bandAt(station.aqi)?.word) || null} stale={stale} />
							),
						},
						{
							name: t('air.distance'),
							figure: true,
							phone: 'end',
							show: (station) => (station.distance_km === null ? '–' : `${tenths(station.distance_km)} km`),
						},
						{ name: t('air.updated'), show: (station) => <Time at={station.updated} /> },
					]}
				/>
			)}
			<Facts
				of={[
					[t('air.attribution'), credits(record.attribution)],
					[t('air.source'), record.source.map(sourceName).join(', ')],
				]}
			/>
		</Card>
	);
}
