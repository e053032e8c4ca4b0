package query

import (
	"context"
	"fmt"
	"time"

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
// since (Unix seconds), or the latest hour at all when none has an AQI; of the named
// stations when there are names.
func (t tables) stationHours(ctx context.Context, since uint32, names []string) (map[string]figures, error) {
	out := map[string]figures{}
	var id string
	var row raw
	named, read := "", t.each
	if names != nil {
		named = " AND station IN {stations:Array(String)}"
		read = func(ctx context.Context, dest []any, row func(), query string, args ...any) error {
			return t.eachNamed(ctx, names, dest, row, query, args...)
		}
	}
	err := read(ctx, row.into(&id), func() { out[id] = row.figures() },
		fmt.Sprintf(`SELECT station, %[2]s FROM %[1]s.station_hour
			WHERE at >= toDateTime({since:UInt32}, 'UTC')%[3]s AND (station, at) IN (
				SELECT station, if(countIf(aqi IS NOT NULL) > 0, maxIf(at, aqi IS NOT NULL), max(at))
				FROM %[1]s.station_hour FINAL WHERE at >= toDateTime({since:UInt32}, 'UTC')%[3]s GROUP BY station)
			ORDER BY station, computed_at DESC LIMIT 1 BY station`, t.database, stationFigures, named),
		number("since", since))
	if err != nil {
		return nil, fmt.Errorf("reading station hours: %w", err)
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
func (t tables) refresh(ctx context.Context, before *Snapshot, since uint32, now time.Time) (facts, error) {
	old := before.facts()
	stations, err := t.stations(ctx)
	if err != nil {
		return facts{}, err
	}
	hours, err := t.stationHours(ctx, since, nil)
	if err != nil {
		return facts{}, err
	}
	var gone []string // stations whose hour is in the tables no longer
	for i := range old.stations {
		st := &old.stations[i]
		got, ok := hours[st.ID]
		switch {
		case st.at == 0 || ok && (got.aqi >= 0 || st.aqi < 0):
		case st.at < since:
			hours[st.ID] = st.figures
		default:
			gone = append(gone, st.ID)
		}
	}
	if len(gone) > 0 && since > 0 {
		earlier, err := t.stationHours(ctx, 0, gone)
		if err != nil {
			return facts{}, err
		}
		for _, id := range gone {
			if f, ok := earlier[id]; ok {
				hours[id] = f
			}
		}
	}
	for i := range stations {
		if f, ok := hours[stations[i].ID]; ok {
			stations[i].figures = f
		}
	}
	f := facts{stations: stations}
	f.cities, err = t.cities(ctx, old.cities, since, now)
	return f, err
}
