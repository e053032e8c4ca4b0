package history

import (
	"context"
	"fmt"
	"slices"

	"vayu/query/gapfill"
	"vayu/query/rollup"
	"vayu/query/snapshot"
	"vayu/schema"
)

// positionRows returns the days or hours of a position with these stations nearby. It
// interpolates stations within 25 km. For other days or hours it uses the city of
// the nearest station, if that is within 25 km. Last comes the nearest station
// within 100 km.
//
// The city's history may begin before that of any station with a position.
func (h *History) positionRows(
	ctx context.Context, snap *snapshot.Snapshot, near []rollup.Sample, kinds rollup.KindSet, days Span, hourly bool,
) ([]row, error) {
	inner := slices.IndexFunc(near, func(sm rollup.Sample) bool { return sm.KM > snapshot.InterpolationReach })
	if inner < 0 {
		inner = len(near)
	}
	most := rowCount(days, hourly)
	newest, err := h.tables.newestOfDays(ctx, snap, near, days, hourly)
	if err != nil {
		return nil, rollup.Unavailable(err)
	}
	rows, err := h.tables.interpolateBetween(ctx, snap, near[:inner], newest, days, hourly, snapshot.InterpolationReach)
	if own := snap.Stations[near[0].Station].InCity; err == nil && inner > 0 && own >= 0 && len(rows) < most {
		var more []row
		if more, err = h.cityRows(ctx, snap, canonicalCity(snap, int(own)), kinds, days, hourly); err == nil {
			rows = join(rows, more)
		}
	}
	if err == nil && len(rows) < most && inner < len(near) {
		var more []row
		if more, err = h.tables.interpolateBetween(ctx, snap, near[inner:], newest, days, hourly, 0); err == nil {
			rows = join(rows, more)
		}
	}
	if err == nil {
		err = gapfill.Fill(ctx, h.tables.Tables, snap.StationIDs(near), pointers(rows))
	}
	return rows, rollup.Unavailable(err)
}

// newestOfDays reads the latest hour of each day in which one of the samples'
// stations has an AQI. It is empty for hourly queries, which do not compare hours.
func (t reader) newestOfDays(
	ctx context.Context, snap *snapshot.Snapshot, near []rollup.Sample, days Span, hourly bool,
) (map[schema.Day]uint32, error) {
	out := map[schema.Day]uint32{}
	if hourly {
		return out, nil
	}
	var at uint32
	err := t.EachNamed(ctx, snap.StationIDs(near), []any{&at}, func() {
		day := schema.DayOf(rollup.Instant(at))
		out[day] = max(out[day], at)
	}, fmt.Sprintf(`SELECT toUInt32(max(at)) FROM %s.station_hour
			WHERE station IN {stations:Array(String)} AND aqi IS NOT NULL
				AND at > toDateTime({from:Int64}, 'UTC') AND at <= toDateTime({to:Int64}, 'UTC')
			GROUP BY toDate(at + %d)`, t.Database, int(schema.IndiaOffset.Seconds())-1),
		rollup.Number("from", days.First.Start().Unix()), rollup.Number("to", days.Last.End().Unix()))
	if err != nil {
		return nil, fmt.Errorf("reading days of stations: %w", err)
	}
	return out, nil
}

// canonicalCity returns the city that a city's name resolves to. That is a different
// city if the state of this one is unknown and a namesake has a state.
func canonicalCity(s *snapshot.Snapshot, i int) int {
	c := s.Cities[i].City
	if found, err := s.Index.Find(c.Name + ", " + c.State); err == nil {
		return found
	}
	return i
}

// rowCount returns the number of the days, or of their hours.
func rowCount(days Span, hourly bool) int {
	n := int(days.Last-days.First) + 1
	if hourly {
		return 24 * n
	}
	return n
}

// join adds to rows those of more for other days or hours, and sorts by time.
func join(rows, more []row) []row {
	type key struct {
		day schema.Day
		at  uint32 // of an hour
	}
	of := func(m *row) key {
		if m.day == hourOnly {
			return key{m.day, m.At}
		}
		return key{day: m.day}
	}
	there := make(map[key]bool, len(rows))
	for i := range rows {
		there[of(&rows[i])] = true
	}
	for i := range more {
		if !there[of(&more[i])] {
			rows = append(rows, more[i])
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return int(a.At) - int(b.At) })
	return rows
}

// interpolateBetween reads the samples' stations over a range and interpolates each
// day or hour. A day uses each station's last hour with an AQI. Stations whose hour
// is more than 3 h older than the day's newest are left out. With reach 0 only the
// nearest station counts.
func (t reader) interpolateBetween(
	ctx context.Context, snap *snapshot.Snapshot, near []rollup.Sample, newest map[schema.Day]uint32, days Span, hourly bool, reach float64,
) ([]row, error) {
	if len(near) == 0 {
		return nil, nil
	}
	by := make(map[string]rollup.Sample, len(near))
	for _, sm := range near {
		by[snap.Stations[sm.Station].ID] = sm
	}
	// One second is subtracted, because midnight ends an interval of the day
	// before.
	per := fmt.Sprintf("station, toDate(at + %d)", int(schema.IndiaOffset.Seconds())-1)
	if hourly {
		per = "station, at"
	}
	got := map[schema.Day][]rollup.Sample{} // by day, or by hour since 1970
	var id string
	var scanned rollup.Scanned
	err := t.EachNamed(ctx, snap.StationIDs(near), scanned.Into(&id), func() {
		sm, f := by[id], scanned.Figures()
		sm.Figures = &f
		key := schema.DayOf(rollup.Instant(f.At))
		if f.At+rollup.InterpolationWindow < newest[key] {
			return
		}
		if hourly {
			key = schema.Day(f.At / 3600)
		}
		got[key] = append(got[key], sm)
	}, fmt.Sprintf(`SELECT station, %s FROM %s.station_hour
			WHERE station IN {stations:Array(String)} AND aqi IS NOT NULL
				AND at > toDateTime({from:Int64}, 'UTC') AND at <= toDateTime({to:Int64}, 'UTC')
			ORDER BY station, at DESC, computed_at DESC LIMIT 1 BY %s`, rollup.StationFigures, t.Database, per),
		rollup.Number("from", days.First.Start().Unix()), rollup.Number("to", days.Last.End().Unix()))
	if err != nil {
		return nil, fmt.Errorf("reading hours of stations: %w", err)
	}
	out := make([]row, 0, len(got))
	for key, samples := range got {
		samples = snap.PreferStations(samples)
		slices.SortFunc(samples, func(a, b rollup.Sample) int { return int(a.KM*1000) - int(b.KM*1000) })
		if reach == 0 {
			samples = samples[:1]
		}
		f, _ := rollup.WeightedMean(samples)
		if hourly {
			key = hourOnly
		}
		out = append(out, row{key, f})
	}
	slices.SortFunc(out, func(a, b row) int { return int(a.At) - int(b.At) })
	return out, nil
}
