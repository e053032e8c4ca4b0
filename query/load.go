package query

import (
	"context"
	"fmt"
	"time"

	"vayu/query/places"
	"vayu/schema"
)

// tables reads one world's tables.
type tables struct {
	conn     Conn
	database string
	guard    *guard // nil: a failure delays nobody
}

func (t tables) sql(format string) string {
	return fmt.Sprintf(format, t.database)
}

// stations reads every station, without figures.
func (t tables) stations(ctx context.Context) ([]station, error) {
	var (
		out         []station
		row         schema.Station
		kind        uint8
		first, last uint32
	)
	err := t.each(ctx,
		[]any{&row.ID, &row.Source, &row.Name, &row.City, &row.State, &row.Latitude, &row.Longitude, &kind, &row.Attribution, &row.Licence, &first, &last},
		func() {
			row.Kind, row.FirstSeen, row.LastSeen = schema.StationKind(kind), instant(first), instant(last)
			out = append(out, station{Station: row, city: -1, figures: noFigures()})
		},
		t.sql(`SELECT id, source, name, city, state, latitude, longitude, toUInt8(kind), attribution, licence,
			toUInt32(first_seen), toUInt32(last_seen) FROM %s.station FINAL ORDER BY id`))
	if err != nil {
		return nil, fmt.Errorf("reading stations: %w", err)
	}
	return out, nil
}

// stationHours reads of each station the latest hour with an AQI at or after
// since (Unix seconds), or the latest hour at all when none has an AQI.
func (t tables) stationHours(ctx context.Context, since uint32) (map[string]figures, error) {
	out := map[string]figures{}
	var id string
	var row raw
	err := t.each(ctx, row.into(&id), func() { out[id] = row.figures() },
		fmt.Sprintf(`SELECT station, %[2]s FROM %[1]s.station_hour
			WHERE at >= toDateTime({since:UInt32}, 'UTC') AND (station, at) IN (
				SELECT station, if(countIf(aqi IS NOT NULL) > 0, maxIf(at, aqi IS NOT NULL), max(at))
				FROM %[1]s.station_hour WHERE at >= toDateTime({since:UInt32}, 'UTC') GROUP BY station)
			ORDER BY station, computed_at DESC LIMIT 1 BY station`, t.database, stationFigures),
		number("since", since))
	if err != nil {
		return nil, fmt.Errorf("reading station hours: %w", err)
	}
	return out, nil
}

// cityHours reads the latest hour of each city at or after since. A city's latest
// day is one of its hours, so days have nothing to add.
func (t tables) cityHours(ctx context.Context, since uint32) (map[places.City]figures, error) {
	out := map[places.City]figures{}
	var at places.City
	var row raw
	err := t.each(ctx, row.into(&at.Name, &at.State), func() { out[at] = row.figures() },
		fmt.Sprintf(`SELECT city, state, %[2]s FROM %[1]s.city_hour
			WHERE at >= toDateTime({since:UInt32}, 'UTC') AND (city, state, at) IN (
				SELECT city, state, max(at) FROM %[1]s.city_hour WHERE at >= toDateTime({since:UInt32}, 'UTC') GROUP BY city, state)
			ORDER BY city, state, computed_at DESC LIMIT 1 BY city, state`, t.database, cityFigures),
		number("since", since))
	if err != nil {
		return nil, fmt.Errorf("reading city hours: %w", err)
	}
	return out, nil
}

// mark is how far the roll-ups have come.
type mark struct {
	at    int64 // when the latest ended, Unix milliseconds
	count uint64
}

// overlap is by how much the look for new roll-ups goes back behind the last
// mark: a row is stamped before others can see it, on a cluster by the clock of
// another server. A row takes well below a second; a minute leaves room for a
// machine that is busy, and costs reading the last minute's hours once more.
const overlap = time.Minute

// rollups returns the mark and the earliest hour that roll-ups since the last
// mark, or shortly before it, computed.
func (t tables) rollups(ctx context.Context, last mark) (now mark, since time.Time, err error) {
	var from uint32
	err = t.each(ctx, []any{&now.at, &now.count, &from}, func() {},
		t.sql(`SELECT toUnixTimestamp64Milli(max(at)), count(), toUInt32(minIf(hours_from, at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC'))) FROM %s.rollup`),
		number("since", max(last.at-overlap.Milliseconds(), 0)))
	if err != nil {
		return mark{}, time.Time{}, fmt.Errorf("reading roll-ups: %w", err)
	}
	return now, instant(from), nil
}

// refresh reads what changed at or after since into the facts of a snapshot.
func (t tables) refresh(ctx context.Context, before *Snapshot, since uint32) (facts, error) {
	old := before.facts()
	stations, err := t.stations(ctx)
	if err != nil {
		return facts{}, err
	}
	hours, err := t.stationHours(ctx, since)
	if err != nil {
		return facts{}, err
	}
	cities, err := t.cityHours(ctx, since)
	if err != nil {
		return facts{}, err
	}
	for i := range old.stations {
		st := &old.stations[i]
		if got, ok := hours[st.ID]; st.at > 0 && st.at < since && (!ok || st.aqi >= 0 && got.aqi < 0) {
			hours[st.ID] = st.figures
		}
	}
	for i := range stations {
		if f, ok := hours[stations[i].ID]; ok {
			stations[i].figures = f
		}
	}
	for _, c := range old.cities {
		if _, ok := cities[c.City]; !ok && c.at < since {
			cities[c.City] = c.figures
		}
	}
	f := facts{stations: stations}
	for name, got := range cities {
		f.cities = append(f.cities, city{City: name, figures: got})
	}
	return f, nil
}
