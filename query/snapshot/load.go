package snapshot

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"vayu/query/aggregate"
	"vayu/schema/air"
)

// loader reads the rows from which snapshots are built.
type loader struct{ aggregate.Tables }

// stations reads the stations that match an SQL condition, sorted by id; "" selects all. It omits
// aliases, and does not set the figures of the stations.
func (t loader) stations(ctx context.Context, condition string) ([]Station, error) {
	var (
		out         []Station
		row         air.Station
		kind        uint8
		first, last uint32
		part        uint16
	)
	if condition != "" {
		condition = "PREWHERE " + condition // the condition uses only key columns, so it may run before FINAL
	}
	err := t.Each(ctx,
		[]any{&row.ID, &row.Source, &row.Name, &row.City, &row.State, &row.Latitude, &row.Longitude, &kind, &row.Attribution, &row.Licence, &first, &last, &row.SameAs, &part},
		func() {
			row.Kind, row.FirstSeen, row.LastSeen = air.StationKind(kind), aggregate.Instant(first), aggregate.Instant(last)
			out = append(out, Station{Station: row, InCity: -1, cityHourAQI: -1, part: part, Figures: aggregate.NoFigures()})
		},
		fmt.Sprintf(`SELECT id, source, name, city, state, latitude, longitude, toUInt8(kind), attribution, licence,
			toUInt32(first_seen), toUInt32(last_seen), same_as, toUInt16(cityHash64(id) %% %d) FROM %s.station FINAL %s
			WHERE id NOT IN (SELECT alias FROM %[2]s.station_alias FINAL) ORDER BY id`, aggregate.Buckets, t.Database, condition))
	if err != nil {
		return nil, fmt.Errorf("reading stations: %w", err)
	}
	return out, nil
}

// mark identifies the latest roll-up. If two polls read different marks, a roll-up ended between them.
type mark struct {
	at    int64 // end of the latest roll-up, Unix milliseconds
	count uint64
}

// lookback makes a poll also read the roll-ups of the last minute before the last mark. The row of a roll-up may become
// visible after rows with a later time, because of a delay or a difference of clocks. Each is well below a second, and
// a minute is enough for a busy machine. So two polls may read the same hours.
const lookback = time.Minute

// rollups returns the mark of the latest roll-up, and the earliest hour that roll-ups since the mark `last` have
// computed. It considers roll-ups that ended up to [lookback] before the last mark.
func (t loader) rollups(ctx context.Context, last mark) (now mark, since time.Time, err error) {
	var from uint32
	err = t.Each(ctx, []any{&now.at, &now.count, &from}, func() {},
		t.SQL(`SELECT toUnixTimestamp64Milli(max(at)), count(), toUInt32(minIf(hours_from, at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC'))) FROM %s.rollup`),
		aggregate.Number("since", max(last.at-lookback.Milliseconds(), 0)))
	if err != nil {
		return mark{}, time.Time{}, fmt.Errorf("reading roll-ups: %w", err)
	}
	return now, aggregate.Instant(from), nil
}

func (t loader) hasReadings(ctx context.Context) (has bool, err error) {
	err = t.Each(ctx, []any{&has}, func() {}, t.SQL("SELECT count() > 0 FROM (SELECT 1 FROM %s.reading LIMIT 1)"))
	return has, err
}

// refresh reads the stations, and the rows for hours at or after the time `since`; 0 means all hours. It reads stations
// and their hours only in buckets (see [aggregate.Buckets]) with a changed digest. If no digest has changed, neither of
// stations nor of cities, it sets `unchanged` in its result and reads no rows.
func (t loader) refresh(ctx context.Context, before *Snapshot, since uint32, now time.Time) (snapshotInput, error) {
	old := before.input()
	if since == 0 {
		before = nil
	}
	f := snapshotInput{kinds: old.kinds}
	if err := t.refreshStations(ctx, before, &f); err != nil {
		return snapshotInput{}, err
	}
	if err := t.refreshHours(ctx, before, since, &f); err != nil {
		return snapshotInput{}, err
	}
	if f.unchanged {
		return f, nil
	}
	var err error
	f.cities, err = t.cities(ctx, old.cities, since, now)
	return f, err
}

// refreshStations reads the stations in buckets (see [aggregate.Buckets]) with a changed digest. It copies the other
// stations, and the figures of all stations, from the previous snapshot.
func (t loader) refreshStations(ctx context.Context, before *Snapshot, f *snapshotInput) error {
	var old []Station
	var known aggregate.Digest
	if before != nil {
		old, known = before.Stations, before.digests.Stations
	}
	now, err := t.StationDigest(ctx)
	if err != nil {
		return err
	}
	changed := make([]bool, aggregate.Buckets)
	aggregate.MarkDiffering(known, now, changed)
	f.digests.Stations = now
	f.changes.SamePlaces = before != nil
	condition, some := aggregate.HashCondition("id", changed)
	if !some {
		f.stations = slices.Clone(old)
		return nil
	}
	read, err := t.stations(ctx, condition)
	if err != nil {
		return err
	}
	f.stations = make([]Station, 0, max(len(old), len(read)))
	for i, k := 0, 0; i < len(old) || k < len(read); {
		switch {
		case k == len(read) || i < len(old) && old[i].ID < read[k].ID:
			if changed[old[i].part] {
				f.changes.SamePlaces = false // a station was removed
			} else {
				f.stations = append(f.stations, old[i])
			}
			i++
		case i == len(old) || read[k].ID < old[i].ID:
			f.changes.SamePlaces = false
			f.changes.Added = append(f.changes.Added, read[k].ID)
			f.stations = append(f.stations, read[k])
			k++
		default:
			st := old[i]
			st.Station = read[k].Station
			f.changes.SamePlaces = f.changes.SamePlaces && sameLocation(&old[i].Station, &st.Station)
			f.stations = append(f.stations, st)
			i, k = i+1, k+1
		}
	}
	return nil
}

func sameLocation(a, b *air.Station) bool {
	return a.City == b.City && a.State == b.State && a.SameAs == b.SameAs && a.Kind == b.Kind && a.Latitude == b.Latitude && a.Longitude == b.Longitude
}

// refreshHours reads the hourly values of the stations in buckets (see [aggregate.Buckets]) with a changed digest.
func (t loader) refreshHours(ctx context.Context, before *Snapshot, since uint32, f *snapshotInput) error {
	var old *aggregate.Digests
	newest := uint32(0)
	if before != nil {
		old, newest = &before.digests, before.Newest()
	}
	changed, same, err := t.ReadDigests(ctx, &f.digests, old, newest, since)
	if err != nil {
		return err
	}
	f.changes.Since, f.unchanged = since, same
	f.changes.Changed = make([]bool, len(f.stations))
	got := map[string]aggregate.Figures{}
	condition, some := aggregate.HashCondition("station", changed)
	f.changes.Condition = condition
	if some {
		if got, err = t.StationHours(ctx, since, condition); err != nil {
			return err
		}
	}
	// The hours before `since` must also be read for the stations in `names`: for new stations, and for stations
	// whose hour in the previous snapshot was removed.
	names := f.changes.Added
	if before == nil {
		names = nil
	}
	for i := range f.stations {
		st := &f.stations[i]
		if !changed[st.part] {
			continue
		}
		f.changes.Changed[i] = true
		now, ok := got[st.ID]
		switch {
		case ok && (now.AQI >= 0 || st.AQI < 0):
			st.Figures = now
		case st.At > 0 && st.At >= since:
			names = append(names, st.ID)
		}
	}
	earlier, err := t.HoursOf(ctx, names)
	if err != nil {
		return err
	}
	for _, id := range names {
		i, ok := slices.BinarySearchFunc(f.stations, id, func(st Station, id string) int { return strings.Compare(st.ID, id) })
		if !ok {
			continue
		}
		f.changes.Changed[i] = true
		if f.stations[i].Figures, ok = earlier[id]; !ok {
			f.stations[i].Figures = aggregate.NoFigures()
		}
	}
	return nil
}

// readCityHourReports reads data of the stations whose own latest hour is not the current hour of their city: whether
// the station reported in the city's hour, and the station's AQI in that hour. It skips stations for which neither
// value can have changed since the previous snapshot.
func (t loader) readCityHourReports(ctx context.Context, s, before *Snapshot, c *aggregate.Changes) error {
	var ids, hours []string
	same := before != nil && c.SamePlaces
	for i := range s.Stations {
		st := &s.Stations[i]
		if same && (len(c.Changed) == 0 || !c.Changed[i]) && (st.InCity < 0 || before.Cities[st.InCity].At == s.Cities[st.InCity].At) {
			continue
		}
		st.cityHourUpdated, st.cityHourAQI = 0, -1
		if st.InCity < 0 || !s.Kinds.Has(st.Kind) {
			continue
		}
		if in := &s.Cities[st.InCity]; in.AQI >= 0 && in.At != st.At {
			ids, hours = append(ids, st.ID), append(hours, fmt.Sprint(in.At))
		}
	}
	var id string
	var updated uint32
	var aqi int16
	for from := 0; from < len(ids); from += aggregate.MaxStationsPerQuery {
		to := min(from+aggregate.MaxStationsPerQuery, len(ids))
		err := t.Each(ctx, []any{&id, &updated, &aqi}, func() {
			st := &s.Stations[s.ByID[id]]
			st.cityHourUpdated, st.cityHourAQI = updated, aqi
		},
			fmt.Sprintf(`SELECT station, toUInt32(argMax(updated, computed_at)), argMax(ifNull(toInt16(aqi), -1), computed_at) FROM %s.station_hour
			WHERE (station, at) IN (SELECT wanted.1, toDateTime(wanted.2, 'UTC')
				FROM (SELECT arrayJoin(arrayZip({stations:Array(String)}, [%s]::Array(UInt32))) AS wanted))
			GROUP BY station`, t.Database, strings.Join(hours[from:to], ", ")),
			aggregate.Param("stations", ids[from:to]))
		if err != nil {
			return fmt.Errorf("reading reports of city hours: %w", err)
		}
	}
	return nil
}
